"""Machine and model together: a space of machines, their area, and the search of pairs."""
