"""Backends from a cluster, whose API server is a fake that speaks its protocol."""
