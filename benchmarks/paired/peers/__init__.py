"""The columns: one file for each kind of engine, with a class that the worker uses.

A new engine is one file here with a subclass of `base.Peer` called `Column`, and one line in
`columns.py`.
"""
