"""What a run did, cycle by cycle, as pages, traces and words."""
