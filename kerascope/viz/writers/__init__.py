"""Writers of a sheet: SVG, TikZ, and PDF and PNG through Graphviz."""
