"""Area by the units of docs/architecture.md: cells, flip-flops, memories."""
