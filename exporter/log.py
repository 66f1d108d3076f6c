"""One structured line for each thing worth telling."""
