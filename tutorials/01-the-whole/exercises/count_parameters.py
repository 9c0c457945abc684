"""Count the parameters of a stack of Dense layers.

A Dense layer of `units` units on an input of `size` numbers has one weight for each pair of an
input and a unit, and one bias for each unit.

Write `parameters`. Its argument holds the size of the input, then the units of each layer:
[500, 32, 10] is an input of 500 numbers, Dense(32), Dense(10). Count without making a model. The
checker makes the models of the documents and asks each for its count_params().
"""


def parameters(sizes):
    return ...
