"""Pictures and tables of models: everything that draws.

An extractor (`extract_layers.py`) turns a model into one neutral `Graph`; renderers (`to_dot.py`,
`to_networkx.py`, `render.py`) only draw it. `drawing.py` puts them together as `draw(model)`;
`tables.py` and `progress.py` draw the engine's data with rich. Read in this order: `graph`, `ids`,
`kinds`, `extract_layers`, `theme`, `to_dot`, `render`, `drawing`.
"""
