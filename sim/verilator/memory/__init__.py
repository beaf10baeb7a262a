"""The memory model that every RTL simulator runs on (`model.h`)."""
