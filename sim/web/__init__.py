"""A web page on which the RTL runs: one file, without a server (`docs/page.md`)."""
