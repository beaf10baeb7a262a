"""The survey's tables and figures, each as numbers of theirs and ours."""
