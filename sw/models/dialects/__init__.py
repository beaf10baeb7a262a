"""Dialects of the levels below graphs in xDSL, which parses and verifies their text."""
