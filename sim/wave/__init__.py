"""Waveforms of runs: the signals, what they mean in words, and how viewers show them."""
