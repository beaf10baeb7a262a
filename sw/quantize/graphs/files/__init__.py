"""Quantized graphs as files: zips of JSON and arrays, checked before anything is computed."""
