"""The documents as a site: `make site` builds it with Sphinx."""
