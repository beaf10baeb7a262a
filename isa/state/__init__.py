"""The architectural state that configuration commands leave behind."""
