"""What goes ahead of TLS, against real servers: mail, databases, proxies and balancers."""
