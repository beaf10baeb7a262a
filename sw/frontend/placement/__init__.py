"""Decides what of a model runs on the accelerator, and says why the rest does not."""
