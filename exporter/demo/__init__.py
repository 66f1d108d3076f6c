"""A small fleet on loopback that lives through a rotation of its ticket keys, for people to look at."""
