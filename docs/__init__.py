"""Documents that programs read: the schema of reports."""
