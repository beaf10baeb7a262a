"""Plans as values, with their text: what each stage of a graph decides."""
