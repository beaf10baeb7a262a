"""Simulators of the RTL that Verilator and g++ build."""
