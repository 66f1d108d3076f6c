"""The image, the chart and all other ways to run the exporter, tried without an engine and without a cluster."""
