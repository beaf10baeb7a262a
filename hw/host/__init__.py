"""How a host reaches the accelerator: the two tops, registers, the command ring."""
