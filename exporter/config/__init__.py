"""From a file to targets, with errors that say what was found, where, and what is allowed."""
