"""Programs: what is known of them before they run, and why they stopped."""
