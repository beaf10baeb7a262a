"""The functions of TRANSFORM: `table` has one entry for each, from which everything derives."""
