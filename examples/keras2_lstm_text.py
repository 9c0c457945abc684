"""Keras 2: an LSTM distinguishes praise and blame in sentences where "not" reverses the meaning.

kerascope run examples/keras2_lstm_text.py
"""

import numpy as np
from keras.layers import LSTM, Dense, Embedding
from keras.models import Sequential
from keras.optimizers import Adam
from keras.preprocessing.sequence import pad_sequences
from keras.preprocessing.text import Tokenizer

np.random.seed(7)

GOOD = ["good", "great", "fine", "lovely", "bright"]
BAD = ["bad", "awful", "dull", "weak", "poor"]
THINGS = ["film", "story", "music", "ending", "plot"]
FILLERS = ["really", "quite", "rather", "so", "very"]


def sentence(rng):
    """Return a sentence and whether it is praise."""
    praise = rng.random() < 0.5
    turned = rng.random() < 0.5
    word = rng.choice(BAD if praise == turned else GOOD)
    words = ["the", rng.choice(THINGS), "is"] + (["not"] if turned else [])
    words += list(rng.choice(FILLERS, rng.integers(0, 4)))
    return " ".join([*words, word]), int(praise)


rng = np.random.default_rng(0)
texts, labels = zip(*[sentence(rng) for _ in range(2000)])
labels = np.array(labels)

tokenizer = Tokenizer()
tokenizer.fit_on_texts(texts)
sequences = pad_sequences(tokenizer.texts_to_sequences(texts), maxlen=10)
print("Found %s unique words." % len(tokenizer.word_index))
x_train, x_test = sequences[:1500], sequences[1500:]
y_train, y_test = labels[:1500], labels[1500:]

model = Sequential()
model.add(Embedding(len(tokenizer.word_index) + 1, 8, mask_zero=True, input_length=10))
model.add(LSTM(16, dropout=0.1))
model.add(Dense(1, activation="sigmoid"))
model.compile(Adam(lr=0.01), "binary_crossentropy", metrics=["accuracy"])
model.fit(x_train, y_train, batch_size=32, epochs=8, validation_split=0.1, verbose=2)

loss, accuracy = model.evaluate(x_test, y_test, verbose=0)
for text in ("the film is not bad", "the film is not really good"):
    praise = model.predict(pad_sequences(tokenizer.texts_to_sequences([text]), maxlen=10))[0, 0]
    print("%-30s praise: %.2f" % (text, praise))
print(f"Test accuracy: {accuracy:.3f}")
