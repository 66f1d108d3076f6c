"""Tests, and the real servers that they start."""
