"""The paired benchmark compares kerascope, hand-written NumPy and other engines in one run.

`python3 -m benchmarks.paired --help`, in the project's root, prints the commands. Every column is a
process that stays alive. The driver runs one timed chunk in each column in turn, so all columns
share the machine's state. The driver and the report only need Python, on Linux or macOS.
"""
