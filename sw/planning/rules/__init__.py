"""What makes a plan legal, stage by stage."""
