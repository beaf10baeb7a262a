"""What the models are written with: nodes and their names, weights, and the usual modules."""
