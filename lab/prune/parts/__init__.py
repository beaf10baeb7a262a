"""What can be removed of a model, how what to keep is chosen, and what skipping would gain."""
