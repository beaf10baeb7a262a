"""Many configurations, many workloads: a line for each point, and a page of the best."""
