"""Making new layers and models: weights, layers of layers, penalties, a model that gives a dict."""

import keras
import numpy as np
from keras import layers, ops

rng = np.random.default_rng(5)


class Linear(keras.layers.Layer):
    def __init__(self, units=32, **kwargs):
        super().__init__(**kwargs)
        self.units = units

    def build(self, input_shape):
        self.w = self.add_weight(
            shape=(input_shape[-1], self.units), initializer="ones", trainable=True
        )
        self.b = self.add_weight(shape=(self.units,), initializer="zeros", trainable=True)

    def call(self, inputs):
        return ops.matmul(inputs, self.w) + self.b

    def get_config(self):
        return {**super().get_config(), "units": self.units}


class ComputeSum(keras.layers.Layer):
    def __init__(self, input_dim):
        super().__init__()
        self.total = self.add_weight(initializer="zeros", shape=(input_dim,), trainable=False)

    def call(self, inputs):
        self.total.assign_add(ops.sum(inputs, axis=0))
        return self.total


my_sum = ComputeSum(2)
for _ in range(2):
    print(ops.convert_to_numpy(my_sum(np.ones((2, 2)))))
print("weights:", len(my_sum.weights), "trainable:", len(my_sum.trainable_weights))


class MLPBlock(keras.layers.Layer):
    def __init__(self):
        super().__init__()
        self.linear_1 = Linear(8)
        self.linear_2 = Linear(8)
        self.linear_3 = Linear(1)

    def call(self, inputs):
        x = ops.relu(self.linear_1(inputs))
        return self.linear_3(ops.relu(self.linear_2(x)))


mlp = MLPBlock()
print(ops.convert_to_numpy(mlp(np.ones((3, 16)))).ravel(), len(mlp.weights))
layer = Linear(64)
print(Linear.from_config(layer.get_config()).units)


class OuterLayerWithKernelRegularizer(keras.layers.Layer):
    def __init__(self):
        super().__init__()
        self.dense = keras.layers.Dense(
            4, kernel_regularizer=keras.regularizers.l2(1e-3), kernel_initializer="ones"
        )

    def call(self, inputs):
        return self.dense(inputs)


layer = OuterLayerWithKernelRegularizer()
layer(np.zeros((1, 5)))
print(len(layer.losses))


class CustomDropout(keras.layers.Layer):
    def call(self, inputs, training=None):
        if training:
            return inputs * 0.5
        return inputs


class Encoder(layers.Layer):
    def __init__(self, latent_dim=3, intermediate_dim=6, name="encoder", **kwargs):
        super().__init__(name=name, **kwargs)
        self.dense_proj = layers.Dense(intermediate_dim, activation="relu")
        self.dense_mean = layers.Dense(latent_dim)
        self.dense_log_var = layers.Dense(latent_dim)

    def call(self, inputs):
        x = self.dense_proj(inputs)
        z_mean = self.dense_mean(x)
        z_log_var = self.dense_log_var(x)
        return z_mean, z_log_var, z_mean + ops.exp(0.5 * z_log_var) * 0.1


class VariationalAutoEncoder(keras.Model):
    def __init__(self, original_dim, name="autoencoder", **kwargs):
        super().__init__(name=name, **kwargs)
        self.encoder = Encoder()
        self.dropout = CustomDropout()
        self.decoder = layers.Dense(original_dim, activation="sigmoid")

    def call(self, inputs):
        z_mean, z_log_var, z = self.encoder(inputs)
        kl_loss = -0.5 * ops.mean(z_log_var - ops.square(z_mean) - ops.exp(z_log_var) + 1)
        self.add_loss(kl_loss)
        return self.decoder(self.dropout(z))


x_train = rng.random((32, 9)).astype("float32")
vae = VariationalAutoEncoder(9)
vae(x_train)
vae.set_weights([rng.normal(scale=0.3, size=w.shape) for w in vae.get_weights()])
vae.compile(keras.optimizers.Adam(learning_rate=1e-2), loss=keras.losses.MeanSquaredError())
print(vae.fit(x_train, x_train, epochs=2, batch_size=16, shuffle=False, verbose=0).history)
print(vae.predict(x_train[:2], verbose=0))


class TwoHeads(keras.Model):
    def __init__(self):
        super().__init__()
        self.trunk = layers.Dense(5, activation="tanh", kernel_initializer="ones")
        self.mean = layers.Dense(2, kernel_initializer="ones")
        self.spread = layers.Dense(2, activation="softplus", kernel_initializer="ones")

    def call(self, inputs, training=False):
        x = self.trunk(ops.concatenate([inputs["left"], inputs["right"]], axis=-1))
        return {"mean": self.mean(x), "spread": self.spread(x)}


data = {"left": rng.normal(size=(20, 3)), "right": rng.normal(size=(20, 2))}
targets = {"mean": rng.normal(size=(20, 2)), "spread": rng.random((20, 2))}
model = TwoHeads()
model.compile(
    "sgd",
    loss={"mean": "mse", "spread": "mae"},
    metrics={"spread": ["mse"]},
    loss_weights={"mean": 1.0, "spread": 0.5},
)
print(model.fit(data, targets, epochs=2, batch_size=8, shuffle=False, verbose=0).history)
print(model.evaluate(data, targets, verbose=0))
predicted = model.predict(data, verbose=0)
print(predicted["mean"][:2], predicted["spread"][:2])
