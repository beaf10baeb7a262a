"""Dialects ``nn`` and ``cel`` in xDSL: graphs as MLIR that its tools parse, verify and print."""
