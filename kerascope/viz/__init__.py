"""Pictures and tables of models: everything that draws.

An extractor (`extract/`) turns a model into a neutral `Graph`. Overlays (`overlays/`) mark its
boxes, `collapse/` closes frames until the graph is small enough to read, `layout/` computes the
positions, and writers (`exports/`) write the file. `draw.py` combines them as `draw(model)`, which
returns a `Drawing`. `tables.py`, `progress.py` and `story.py` print summaries, progress and traces.

Read in this order: `graph`, `boxes`, `theme`, `extract/nodes`, `layout/`,
`exports/to_svg`, `collapse/collapsed`, `collapse/view`, `drawing`, `draw`.
"""
