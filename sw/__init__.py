"""The compiler and the driver.

May import `celosia.isa`; never `celosia.hw`, `celosia.sim` or Amaranth.
"""
