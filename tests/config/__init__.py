"""Tests of the configuration: files with one mistake each, files without any, and texts that are no configuration."""
