"""Search for a model that suits the machine: a supernet, exact costs, four searches, validation."""
