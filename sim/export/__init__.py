"""Verilog to take away: the RTL, its memories, a file list and a description."""
