"""Extractors: from models, tensors and errors to the neutral `Graph`."""
