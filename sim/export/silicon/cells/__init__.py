"""Cell libraries: areas and functions, without which a netlist of gates says nothing."""
