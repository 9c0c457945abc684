"""DOT, and what Graphviz draws of it: PNG, PDF, and SVG with its layout."""
