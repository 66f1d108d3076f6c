"""Real TLS servers on loopback, a module for each: `start(folder, address, settings)` runs it."""
