"""Our own SVG."""
