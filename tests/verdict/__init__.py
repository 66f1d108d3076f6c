"""Tests of the verdicts, by tables and by a simulated fleet."""
