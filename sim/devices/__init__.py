"""The devices that run programs: functional, Amaranth's simulator, Verilator."""
