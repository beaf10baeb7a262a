"""What may be chosen in a plan."""
