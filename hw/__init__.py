"""The accelerator in Amaranth.  May import `celosia.isa`; never `celosia.sw` or `celosia.sim`."""
