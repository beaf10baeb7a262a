"""Float graphs to integer graphs: what the accelerator computes of them, in which formats."""
