"""The status page: what was found of each target, for people who look at it and for programs that ask."""
