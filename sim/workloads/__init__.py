"""The workloads that can be run, and their operands."""
