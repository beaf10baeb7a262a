"""From RTL to a simulator that Verilator and g++ build."""
