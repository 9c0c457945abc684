"""Watching the engine: walks and records of what its stages do; pure data, no printing."""
