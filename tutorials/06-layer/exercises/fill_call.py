"""Write the steps of a call of a layer.

`SmallLayer` is a layer in its smallest form. Its subclasses write `build(input_shape)`, which makes
weights, and `call(inputs)`, which computes. All layers share `__call__`:

1. if it is not built yet, build it, with the shape of the inputs; then it is built;
2. compute the outputs with `call`;
3. if the outputs are the very same tensor as the inputs, copy them with K.identity, or the tensor
   would lose where it came from;
4. append the pair (inputs, outputs) to self.calls: the smallest Node there is;
5. return the outputs.
"""

from keras import backend as K


class SmallLayer:
    def __init__(self):
        self.built = False
        self.calls = []

    def build(self, input_shape):
        return None

    def call(self, inputs):
        return inputs

    def __call__(self, inputs): ...
