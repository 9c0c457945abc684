"""Tensors and curves as pictures: `ks.show(layer, x)`, `history.plot()`, `tape.plot(...)`.

`sources` gets the arrays, and `panels` arranges them as two-dimensional panels. `heat_maps` and
`curves` lay them out as a `Sheet` of marks and as text. `viz/writers/` draws a sheet with the
colours of `viz/roles.py`. `show.py` combines these steps and returns a `Picture`.
"""
