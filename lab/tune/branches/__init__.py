"""Stages of concurrent branches by search."""
