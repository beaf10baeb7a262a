"""The benchmarks: what is measured, what it must reach, and what was reached before."""
