"""The composition root: the only file that knows all the parts."""
