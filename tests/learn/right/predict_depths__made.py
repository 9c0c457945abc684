from keras.layers import Add, Dense, Input
from keras.models import Model

x = Input(shape=(4,), name="x")
a = Dense(4, name="a")(x)
b = Dense(4, name="b")(a)
c = Dense(4, name="c")(a)
d = Dense(4, name="d")(c)
add = Add(name="add")([b, d])
e = Dense(4, name="e")(b)
model = Model(x, [add, e])
depths = {layer.name: depth for depth, own in model.layers_by_depth.items() for layer in own}
layers = [layer.name for layer in model.layers]
post_order = [node.layer.name for node in model.graph_map.nodes_in_decreasing_depth]
