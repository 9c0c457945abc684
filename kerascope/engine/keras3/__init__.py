"""What Keras 3 does differently from Keras 1 and 2, for scripts written in its dialect.

Read the engine first. Each file here names the part of the engine that it changes or extends.
"""
