"""Listeners that misbehave, and what the prober makes of each."""
