"""Plans by search, with the timeline or the RTL as the judge."""
