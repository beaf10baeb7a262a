"""The library that C programs drive a simulated accelerator with."""
