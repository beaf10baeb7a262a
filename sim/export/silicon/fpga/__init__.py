"""What of an FPGA a configuration takes, and how fast it is there."""
