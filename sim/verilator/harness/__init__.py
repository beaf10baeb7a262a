"""The C++ around the RTL: bench, Verilator harness, and their Python binding."""
