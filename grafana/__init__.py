"""Dashboards for Grafana, written as data and built to JSON by `python -m grafana`."""
