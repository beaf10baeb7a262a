"""How far predictions of cycles are from what runs take."""
