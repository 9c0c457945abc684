"""A page in one file: frames open and close, search, keyboard."""
