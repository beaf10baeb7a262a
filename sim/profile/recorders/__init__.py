"""What records a run's log while the RTL is simulated."""
