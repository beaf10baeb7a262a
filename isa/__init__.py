"""The contract between hardware and software: configuration, encodings, numerics, counters.

Pure Python.  Imports nothing from this project, and never imports Amaranth.
"""
