"""When a target's next round begins."""
