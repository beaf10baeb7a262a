"""Plans: every decision about how a graph is computed, as a value that is read and edited."""
