"""Known servers on loopback, in a process of their own, against which the prober is held."""
