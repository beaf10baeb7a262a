"""Random damage to files that a user gives to the command line, or that it keeps in its cache."""
