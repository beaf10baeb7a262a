"""How far what is quantized is from float."""
