"""A link with a delay between two network namespaces, so that a path's share of a time can be told from a server's."""
