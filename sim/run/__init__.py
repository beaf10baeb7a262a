"""Running a workload, and measuring it."""
