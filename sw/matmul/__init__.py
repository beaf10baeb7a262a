"""The compiler of single products: schedules, tiles, cost."""
