"""Tests of the measuring client and of what is made of its figures."""
