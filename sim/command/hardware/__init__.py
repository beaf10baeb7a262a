"""The commands of the hardware: Verilog, area, paths, energy, FPGAs."""
