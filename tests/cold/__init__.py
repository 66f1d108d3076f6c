"""What a handshake carries, seen at real servers."""
