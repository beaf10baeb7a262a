"""The RTL as Verilator is given it: the same logic, written so that it simulates fast."""
