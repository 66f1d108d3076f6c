"""The real plan of a round and the real verdicts, over simulated servers and a simulated clock."""
