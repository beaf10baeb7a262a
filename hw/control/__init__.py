"""One controller per class of operation."""
