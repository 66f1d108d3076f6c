"""What is counted, what is shown of it, and in which words."""
