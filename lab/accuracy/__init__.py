"""How far what is quantized is from float, and what is predicted from what was measured."""
