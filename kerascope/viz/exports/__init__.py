"""Writers: from the neutral `Graph` to SVG, HTML, DOT, characters, Mermaid, networkx and JSON."""
