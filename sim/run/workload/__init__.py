"""Runs of any workload: of products, a graph, a program or a model."""
