"""Programs with loops: commands that others make, which REPEAT and STRIDE stand for."""
