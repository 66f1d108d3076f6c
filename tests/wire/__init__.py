"""Tests of TLS and HTTP on bytes alone."""
