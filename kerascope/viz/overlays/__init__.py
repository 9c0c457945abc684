"""Overlays: from a `Graph` to one whose boxes are marked, or to two graphs in one."""
