"""Where everything in a picture lies: our own layout.

Boxes of one depth stand in one row, the outputs last. A frame (an opened nested model, say) is laid
out by itself and is then one wide item in a row of the picture around it, so opening one frame
never changes the order elsewhere. Rows are ordered by barycentres [1]_, so that few arrows cross;
along the rows every item moves to where its neighbours want it, which is a weighted least-squares
problem solved exactly by pooling [2]_. An arrow runs only between rows, down through gaps that were
kept for it in the rows between, or, if it is very long or goes back, in a lane beside them: it
never crosses a box.

Read in this order: `measures` (how large a box is), `levels` (rows, frames, what an arrow passes),
`order`, `places`, `arrange` (all of it, and what comes out).

References
----------
.. [1] Sugiyama, K., Tagawa, S. and Toda, M. (1981). Methods for visual understanding of
   hierarchical system structures. IEEE Transactions on Systems, Man, and Cybernetics 11(2).
.. [2] Barlow, R. E. et al. (1972). Statistical inference under order restrictions. Wiley. (Pooling
   of adjacent violators.)
"""
