"""The registers, error causes, events and queues that a host sees."""
