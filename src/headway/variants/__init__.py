"""What else can weigh: sinks, gates, chosen keys, and a memory instead of a cache."""
