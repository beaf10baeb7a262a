"""What commands mean: operations with their configuration resolved, and the loops around them."""
