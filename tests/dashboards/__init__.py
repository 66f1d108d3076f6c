"""Dashboards: their JSON, what their queries name, and what a real Prometheus answers."""
