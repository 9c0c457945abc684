"""Keras 2, sequence to sequence: a decoder gets an encoder's last states and reverses a word.

kerascope run examples/keras2_seq2seq.py
"""

import numpy as np
from keras.layers import LSTM, Dense, Input
from keras.models import Model

np.random.seed(4)

letters = "abcdef"
num_tokens = len(letters) + 2  # and a start and an end
START, END = num_tokens - 2, num_tokens - 1
length, latent_dim = 4, 64

rng = np.random.default_rng(0)
words = rng.integers(0, len(letters), (3000, length))
reversed_words = words[:, ::-1]


def one_hot(numbers):
    """Return one-hot rows for numbers."""
    return np.eye(num_tokens)[numbers]


encoder_input_data = one_hot(words)
start, end = np.full((len(words), 1), START), np.full((len(words), 1), END)
decoder_input_data = one_hot(np.hstack([start, reversed_words]))
decoder_target_data = one_hot(np.hstack([reversed_words, end]))

encoder_inputs = Input(shape=(None, num_tokens))
encoder_outputs, state_h, state_c = LSTM(latent_dim, return_state=True)(encoder_inputs)
encoder_states = [state_h, state_c]

decoder_inputs = Input(shape=(None, num_tokens))
decoder_lstm = LSTM(latent_dim, return_sequences=True, return_state=True)
decoder_outputs, _, _ = decoder_lstm(decoder_inputs, initial_state=encoder_states)
decoder_dense = Dense(num_tokens, activation="softmax")
decoder_outputs = decoder_dense(decoder_outputs)
model = Model([encoder_inputs, decoder_inputs], decoder_outputs)

model.compile(optimizer="rmsprop", loss="categorical_crossentropy")
train = slice(0, 2700)
model.fit(
    [encoder_input_data[train], decoder_input_data[train]],
    decoder_target_data[train],
    batch_size=32,
    epochs=25,
    verbose=2,
)

# To write, the states go from step to step by hand.
encoder_model = Model(encoder_inputs, encoder_states)
decoder_states_inputs = [Input(shape=(latent_dim,)), Input(shape=(latent_dim,))]
decoder_outputs, state_h, state_c = decoder_lstm(
    decoder_inputs, initial_state=decoder_states_inputs
)
decoder_model = Model(
    [decoder_inputs, *decoder_states_inputs], [decoder_dense(decoder_outputs), state_h, state_c]
)


def decode_sequences(input_seqs):
    """Return the word that the decoder writes for each sequence, letter by letter."""
    states = encoder_model.predict(input_seqs)
    token = np.full((len(input_seqs), 1), START)
    written = []
    for _ in range(length):
        output, *states = decoder_model.predict([one_hot(token), *states])
        token = output[:, -1:].argmax(axis=-1)
        written.append(token)
    return np.hstack(written)


written = decode_sequences(encoder_input_data[2700:])
for word, answer in zip(words[2700:2703], written):
    print("".join(letters[i] for i in word), "->", "".join((letters + "<>")[i] for i in answer))
right = (written == reversed_words[2700:]).mean()
print(f"Letters written right: {right:.3f}")
