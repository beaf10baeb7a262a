"""What only programs written for Gemmini need, behind a few hooks."""
