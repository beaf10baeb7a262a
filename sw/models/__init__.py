"""Workloads: the products of real models."""
