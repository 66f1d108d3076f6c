"""What is released: the wheel, and what the command says of itself."""
