"""From results to counts, and from counts to Prometheus families."""
