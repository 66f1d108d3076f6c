"""Tests of the load generator, and of what is made of its counts."""
