"""Keep y = x ** 2 while x changes.

In Python x = 1, y = x ** 2, x = 2 leaves y at 1. The documents say that Python "cannot" do better.
See what it can do, and what it lacks.

`with_lambda(box)`: box is a list of one number. Return a function without arguments that gives the
square of what is in the box when it is called.
`with_graph(x)`: x is a K.variable. Return a tensor: the square of x.
`ops_of(y)`: the names of the ops on the way from the tensor y back along first inputs, last op
first: ["square", "exp"] for K.square(K.exp(x)). y.owner is the call that made y, None for a
variable. It has y.owner.op.name and y.owner.inputs. A lambda cannot answer this question.
"""

from keras import backend as K


def with_lambda(box):
    return ...


def with_graph(x):
    return ...


def ops_of(y):
    return ...
