"""The command `tlsprobe`."""
