"""What the exporter says of each server, held to what the server's documentation says, and docs/interop.md from it."""
