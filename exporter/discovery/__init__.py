"""Where targets and their addresses come from."""
