"""Where addresses come from."""
