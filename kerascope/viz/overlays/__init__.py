"""Overlays: functions that mark boxes of a `Graph`, or combine two graphs in one."""
