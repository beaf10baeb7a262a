"""What the RTL costs in silicon: area, paths, energy, and what an FPGA has room for."""
