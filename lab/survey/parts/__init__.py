"""What the items of the survey are made from: its numbers, operators, its model, and runs."""
