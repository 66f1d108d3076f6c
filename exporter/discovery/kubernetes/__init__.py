"""The backends of a Service in Kubernetes, by list and watch of its EndpointSlices."""
