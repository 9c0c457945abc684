"""The graph as data: networkx, GraphML, JSON, Mermaid."""
