"""Audio preprocessing layers: `MelSpectrogram`, the energy in each mel band over time."""

from __future__ import annotations

from typing import Any

import numpy as np

from kerascope import backend as K
from kerascope.backend.graph import Tensor
from kerascope.backend.shapes import Shape
from kerascope.engine.base_layer import Layer
from kerascope.errors import ArgumentError
from kerascope.layers.arguments import positive_int
from kerascope.layers.ops import keras_ops as ops
from kerascope.layers.ops.linalg import stft

__all__ = ["MelSpectrogram"]


class MelSpectrogram(Layer):
    """Computes the spectrum of a sound over time, on the mel scale of pitches.

    Parameters
    ----------
    fft_length : int
        Length of the pieces to which a Fourier transform is applied.
    sequence_stride : int
        Distance from one piece to the next.
    sequence_length : int, optional
        Length of the window in a piece; default `fft_length`.
    window : {"hann", "hamming"} or array_like, optional
        Factors for the samples of a piece.
    sampling_rate : int
        Samples per second of the sound.
    num_mel_bins : int
        Number of pitches (bands of the mel scale) in the output.
    min_freq, max_freq : float, optional
        The lowest and the highest pitch in hertz; the default of `max_freq` is half of
        `sampling_rate`.
    power_to_db : bool
        Whether the output is in decibels.
    top_db : float
        Maximum distance in decibels from the loudest value of the batch; smaller values are raised
        to that limit.
    mag_exp : float
        Exponent of the magnitudes.
    min_power, ref_power : float
        The smallest power before conversion to decibels, and the power of 0 decibels.
    **kwargs
        As for `Layer`.

    Raises
    ------
    ArgumentError
        The window is longer than a piece, or the lowest pitch is not below the highest.

    Notes
    -----
    Input (batch, samples) or (samples,), output (batch, num_mel_bins, pieces). The sound is
    mirrored at both ends, so that the first piece is centred at the beginning of the sound. Because
    of `top_db`, the output for one sound depends on the other sounds of its batch, as in Keras 3.

    References
    ----------
    1. Stevens, Volkmann and Newman: A Scale for the Measurement of the Psychological Magnitude
       Pitch, 1937; here mel = 1127 ln(1 + hertz / 700).

    Examples
    --------
    >>> MelSpectrogram(64, 16, num_mel_bins=8)(np.ones((1, 160))).shape
    (1, 8, 11)
    """

    def __init__(
        self,
        fft_length: int = 2048,
        sequence_stride: int = 512,
        sequence_length: int | None = None,
        window: Any = "hann",
        sampling_rate: int = 16000,
        num_mel_bins: int = 128,
        min_freq: float = 20.0,
        max_freq: float | None = None,
        power_to_db: bool = True,
        top_db: float = 80.0,
        mag_exp: float = 2.0,
        min_power: float = 1e-10,
        ref_power: float = 1.0,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.fft_length = positive_int(fft_length, f"{self.label}: fft_length")
        self.sequence_stride = positive_int(sequence_stride, f"{self.label}: sequence_stride")
        length = sequence_length or fft_length
        self.sequence_length = positive_int(length, f"{self.label}: sequence_length")
        if self.sequence_length > self.fft_length:
            raise ArgumentError(
                f"{self.label}: expected sequence_length of at most fft_length ({fft_length}), got "
                f"{sequence_length}."
            )
        self.window = window
        self.sampling_rate = sampling_rate
        self.num_mel_bins = positive_int(num_mel_bins, f"{self.label}: num_mel_bins")
        self.min_freq, self.max_freq = min_freq, max_freq or int(sampling_rate / 2)
        if not self.min_freq < self.max_freq:
            raise ArgumentError(
                f"{self.label}: expected min_freq below max_freq ({self.max_freq}), got {min_freq}."
            )
        self.power_to_db, self.top_db = bool(power_to_db), top_db
        self.mag_exp, self.min_power, self.ref_power = mag_exp, min_power, ref_power

    def call(self, inputs: Tensor) -> Tensor:
        """Return the power of each pitch in each piece of the sound, in decibels by default."""
        sound = K.cast(inputs, self.dtype)
        real, imaginary = stft(
            sound, self.sequence_length, self.sequence_stride, self.fft_length, self.window
        )
        power = K.pow(real * real + imaginary * imaginary, self.mag_exp / 2)
        found = ops.matmul(power, K.constant(self._shares(), power.dtype))
        if self.power_to_db:
            reference = max(abs(self.ref_power), self.min_power)
            found = ops.log10(K.maximum(found, self.min_power)) * 10.0
            found = found - float(10.0 * np.log10(reference))
            found = K.maximum(found, K.max(found) - self.top_db)
        return ops.swapaxes(found, -1, -2)

    def _shares(self) -> np.ndarray:
        """Return the weight of each frequency in each pitch: a triangle on the mel scale."""
        frequencies = np.linspace(0.0, self.sampling_rate / 2, self.fft_length // 2 + 1)
        pitches = _mel(frequencies[1:])[:, None]
        edges = np.linspace(_mel(self.min_freq), _mel(self.max_freq), self.num_mel_bins + 2)
        low, middle, high = edges[:-2], edges[1:-1], edges[2:]
        rising = (pitches - low) / (middle - low)
        falling = (high - pitches) / (high - middle)
        shares = np.maximum(0.0, np.minimum(rising, falling))
        return np.concatenate([np.zeros((1, self.num_mel_bins)), shares])  # the mean has no pitch

    def compute_output_shape(self, input_shape: Shape) -> Shape:
        """Return the output shape: (..., num_mel_bins, number of pieces of the sound)."""
        samples = input_shape[-1]
        pieces = None
        if samples is not None:
            padded = samples + self.fft_length // 2 * 2
            pieces = (padded - self.fft_length) // self.sequence_stride + 1
        return (*input_shape[:-1], self.num_mel_bins, pieces)


def _mel(hertz: Any) -> Any:
    return 1127.0 * np.log(1.0 + np.asarray(hertz) / 700.0)
