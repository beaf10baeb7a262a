"""The float graph: frozen values between files of other tools and graphs of integers."""
