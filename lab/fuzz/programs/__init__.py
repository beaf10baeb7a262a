"""Random programs that are legal by construction."""
