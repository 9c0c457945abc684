"""Predict: hit or miss?

    inputs = Input(shape=(3,))
    dense = Dense(2)
    model = Model(inputs, dense(inputs))
    a, b = Input(shape=(3,)), Input(shape=(3,))
    model(a)

Then these calls follow, one after another. Write "hit" if the output comes from the cache, and
"miss" if run_internal_graph has to run.

    the_same_input    model(a)
    the_same_shape    model(b)
    in_a_list         model([a])
    new_weights       model.set_weights(...), then model(a)
    a_twin            Model(inputs, model.output)(a)
    numbers_again     array = np.ones((1, 3)); model(array), then model(array); the second of them
"""

the_same_input = ...
the_same_shape = ...
in_a_list = ...
new_weights = ...
a_twin = ...
numbers_again = ...
