"""Schedules: lists of primitives, each of which makes another legal plan out of a legal plan."""
