"""The longest paths from register to register, in levels of logic or in nanoseconds."""
