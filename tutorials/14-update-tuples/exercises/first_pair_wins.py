"""Write the loop over the updates.

Keras 1.2 has this loop in Function.__init__:

    for v, nv in updates:
        if v not in unique_variables_to_update:
            unique_variables_to_update[v] = nv

S4 reads: "after the loop, v has been replaced by nv". Nothing is replaced. The loop only drops a
second pair for the same variable.

Write `unique(pairs)`: the pairs as a list, in their order, the first one for each variable. Compute
nothing and write nothing.
"""


def unique(pairs):
    return ...
