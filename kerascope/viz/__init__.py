"""Pictures and tables of models: everything that draws.

An extractor (`extract/`) turns a model into one neutral `Graph`; overlays (`overlays/`) mark its
boxes; `collapse/` closes frames until a person can read it; `layout/` says where everything lies;
writers (`exports/`) only draw it. `draw.py` puts them together as `draw(model)`, which returns a
`Drawing`; `tables.py`, `progress.py` and `story.py` show the engine's data with rich.

Read in this order: `graph`, `boxes`, `theme`, `extract/nodes`, `layout/`,
`exports/to_svg`, `collapse/collapsed`, `collapse/view`, `drawing`, `draw`.
"""
