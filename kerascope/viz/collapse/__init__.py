"""Collapsing: frames around repeated blocks, and one box in place of each closed frame."""
