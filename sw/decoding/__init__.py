"""Texts that a decoder goes on with, token by token, on a device."""
