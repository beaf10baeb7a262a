"""What the commands of the command line take and print."""
