"""The HTTP side: metrics, health and pages."""
