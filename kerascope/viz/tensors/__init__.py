"""Tensors and curves as pictures: `ks.show(layer, x)`, `history.plot()`, `tape.plot(...)`.

`sources` finds the arrays, `panels` makes two-dimensional panels of them, `heat_maps` and `curves`
lay them out as one `Sheet` of marks and as characters; `viz/writers/` draws a sheet, and
`viz/roles.py` has the colours. `show.py` puts it together and returns a `Picture`.
"""
