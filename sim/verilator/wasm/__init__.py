"""The simulator of a configuration as WebAssembly, and what JavaScript must know of it."""
