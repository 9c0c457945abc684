"""Drawings in characters: boxes and lines, and trees of ops."""
