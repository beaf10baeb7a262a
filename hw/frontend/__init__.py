"""From command words to decoded operations."""
