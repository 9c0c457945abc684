"""kerascope's own layout: the positions of all boxes, frames and arrows of a picture.

Boxes of the same depth form a row; outputs are in the last row. A frame (such as an open nested
model) is laid out first and is then one wide item in a row of the picture around it, so opening a
frame never changes the order elsewhere. Rows are ordered by barycentres [1]_, so that few arrows
cross. Within the rows, every item is as close as possible to its neighbours above and below. This
is a weighted least-squares problem, solved exactly by pooling [2]_. Arrows run between rows and
through gaps that are reserved for them in the rows that they pass. Very long arrows and arrows back
run in lanes next to the rows. So an arrow never crosses a box.

Read in this order: `measures` (the sizes of boxes), `levels` (rows, frames and routes), `order`,
`places`, and `arrange`, which combines them and contains the result.

References
----------
.. [1] Sugiyama, K., Tagawa, S. and Toda, M. (1981). Methods for visual understanding of
   hierarchical system structures. IEEE Transactions on Systems, Man, and Cybernetics 11(2).
.. [2] Barlow, R. E. et al. (1972). Statistical inference under order restrictions. Wiley. (Pooling
   of adjacent violators.)
"""
