"""The only place with sockets to targets: plan, dial, time and run."""
