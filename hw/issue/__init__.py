"""Which operation may start: hazards and queues."""
