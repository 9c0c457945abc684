"""Paired benchmark: kerascope beside hand-written NumPy and other engines, in one run.

`python3 -m benchmarks.paired --help`, from the project's root, prints the commands. Every column
is a process of its own that stays alive; the driver asks the columns in turn for one timed chunk,
so that all of them see the same machine. The driver and the report need nothing but Python, on
Linux or macOS: memory and processor time are asked from the system.
"""
