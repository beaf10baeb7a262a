"""What is checked of energies that were measured, beside the measurement."""
