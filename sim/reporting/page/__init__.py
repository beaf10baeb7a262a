"""A report as a page that works offline."""
