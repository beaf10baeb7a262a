"""The memory bus: channels, bursts, beats."""
