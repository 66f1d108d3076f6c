"""Tests of the reference servers and of their supervisor."""
