"""From a plan to a program: all operations in order of meaning, then in the order of the queues."""
