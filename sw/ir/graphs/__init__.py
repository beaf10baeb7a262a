"""What graphs are made of: tensors, and a class for each operator and finish, with all of it."""
