"""How targets are dialled, timed and gone round."""
