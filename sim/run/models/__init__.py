"""Running a model of another tool, as a program or as a function."""
