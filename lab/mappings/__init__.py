"""Very many plans of one product: how they are drawn, what they take, and how sure that is."""
