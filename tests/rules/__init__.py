"""Recording and alert rules, tried in promtool."""
