"""What the accelerator computes of a float graph, without integers."""
