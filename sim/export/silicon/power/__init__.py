"""What units of the RTL take, measured: gates, what toggles in them, and energies of cells."""
