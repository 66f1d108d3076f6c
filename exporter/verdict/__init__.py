"""Pure functions from observations to closed states, one file per question."""
