"""The differences of Keras 3 from Keras 1 and 2, for scripts in dialect "3".

Read the engine first. Each file here names the part of the engine that it changes or extends.
"""
