"""Commands that stand for many others: what comes in once, and goes on many times."""
