"""Names of older Keras versions, in one place."""
