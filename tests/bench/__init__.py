"""What the prober costs and how well it bears starvation, measured beside a peer: `python -m tests.bench`."""
