"""An accelerator on a board, reached by a serial port; and the same board, simulated."""
