"""A configuration that changes while the exporter runs."""
