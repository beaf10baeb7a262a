"""Components that turn command words into operations and check their rules."""
