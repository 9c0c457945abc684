"""What Keras 3 does otherwise than Keras 1 and 2, for scripts that speak its dialect.

Read the engine first: each file here says what it changes there, or adds.
"""
