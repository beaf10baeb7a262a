"""The options that commands of the command line share."""
