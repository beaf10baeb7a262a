"""From the stages of a plan to operations on local rows, in order of meaning."""
