"""Nets in hand-written NumPy, which show how fast an engine on NumPy could be at most.

There are no automatic gradients, because every formula is written out for its net. All arrays are
allocated once, and NumPy writes into them (`out=`). These files are the limit that kerascope is
measured against, and a list of tricks that a compiler of graphs can use:

- aligned buffers (`buffers.py`), a straight line of NumPy calls without a dictionary or an
  allocation (`program.py`);
- all weights in one flat array, updated in blocks that fit the cache (`flat.py`);
- features in rows, with a row of ones: the bias is a column of the matrix product, and so is its
  gradient (`dense.py`, `lstm.py`);
- the gradient of relu by sign bits; masks and weight gradients of equal layers in one call
  (`dense.py`);
- sigmoid as tanh, its factors folded into the weights (`lstm.py`); crossentropy fused with the
  activation before it (`losses.py`);
- convolution image by image in the cache, pooled before bias and relu, which changes nothing
  (`convolution.py`).
"""
