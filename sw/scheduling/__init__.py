"""The scheduling of a plan: operations in order of meaning, then in the order of the queues."""
