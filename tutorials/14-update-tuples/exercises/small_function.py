"""Write K.function in its smallest form.

`SmallFunction(outputs, updates)` takes a list of tensors and a list of pairs (variable, new value).
Making it computes nothing and changes nothing. A call `f()`

1. computes all outputs, and all new values, from the present values of the variables;
2. only then writes the new values, K.set_value(variable, number);
3. returns the list of outputs.

K.eval(tensor) computes a tensor. If you write the first variable before the second new value is
computed, you cannot swap two variables.
"""

from keras import backend as K


class SmallFunction:
    def __init__(self, outputs, updates):
        self.outputs = outputs
        self.updates = updates

    def __call__(self):
        return ...
