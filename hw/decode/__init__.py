"""From command words to operations whose rules are checked."""
