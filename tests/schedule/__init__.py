"""When rounds begin."""
