"""Connections that carry several requests, against real servers."""
