"""What every part of the simulators uses: output, progress, errors, the cache."""
