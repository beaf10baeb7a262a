"""Talking to a device: buffers, command lists, results."""
