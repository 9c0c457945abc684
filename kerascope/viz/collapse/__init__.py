"""Collapsing: frames around what repeats, and one box for each closed frame."""
