"""Exported Verilog to gates, one module at a time, with whatever Yosys there is."""
