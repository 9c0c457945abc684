"""A small vision transformer: patches, a class for them, grouped attention."""

import keras
import numpy as np
from keras import layers, ops


class Patches(layers.Layer):
    def __init__(self, patch_size, **kwargs):
        super().__init__(**kwargs)
        self.patch_size = patch_size

    def call(self, images):
        patches = keras.ops.image.extract_patches(images, size=self.patch_size)
        batch_size, rows, columns, pixels = ops.shape(patches)
        return ops.reshape(patches, (batch_size, rows * columns, pixels))

    def get_config(self):
        return {**super().get_config(), "patch_size": self.patch_size}


class PatchEncoder(layers.Layer):
    def __init__(self, num_patches, projection_dim, **kwargs):
        super().__init__(**kwargs)
        self.num_patches = num_patches
        self.projection = layers.Dense(units=projection_dim)
        self.position_embedding = layers.Embedding(num_patches, projection_dim)

    def call(self, patch):
        positions = ops.expand_dims(ops.arange(start=0, stop=self.num_patches, step=1), axis=0)
        return self.projection(patch) + self.position_embedding(positions)


rng = np.random.default_rng(7)
images = rng.random((16, 12, 12, 3)).astype("float32")
labels = rng.integers(0, 3, 16)

inputs = keras.Input(shape=(12, 12, 3))
x = layers.Resizing(8, 8, antialias=True)(inputs)
x = Patches(4)(x)
x = PatchEncoder(4, 8)(x)
for _ in range(2):
    y = layers.LayerNormalization(epsilon=1e-6)(x)
    y = layers.GroupQueryAttention(head_dim=4, num_query_heads=4, num_key_value_heads=2)(y, y)
    x = layers.Add()([x, y])
    y = layers.LayerNormalization(epsilon=1e-6)(x)
    y = layers.Dense(16, activation=keras.activations.gelu)(y)
    x = layers.Add()([x, layers.Dense(8)(y)])
x = layers.RMSNormalization()(x)
x = layers.AdaptiveAveragePooling1D(1)(x)
logits = layers.Dense(3)(layers.Flatten()(x))
model = keras.Model(inputs=inputs, outputs=logits)
model.set_weights([rng.normal(0, 0.3, w.shape).astype("float32") for w in model.get_weights()])
model.compile(
    optimizer=keras.optimizers.AdamW(learning_rate=0.001, weight_decay=0.0001),
    loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    metrics=[
        keras.metrics.SparseCategoricalAccuracy(name="accuracy"),
        keras.metrics.SparseTopKCategoricalAccuracy(2, name="top-2-accuracy"),
    ],
)
history = model.fit(images, labels, batch_size=8, epochs=2, shuffle=False, verbose=0)
for name, values in history.history.items():
    print(name, *(f"{v:.5g}" for v in values))
print("logits", np.round(model.predict(images[:2], verbose=0), 4).tolist())
