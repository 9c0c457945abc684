"""Count the zeros around a row, and the places of a filter.

A filter of `kernel` numbers with a dilation of 1 covers `kernel` pixels; with a dilation of 2 it
reads every second pixel, so it covers 2 * (kernel - 1) + 1 of them. The filter moves on by `stride`
pixels, and its last number must not leave the row with its zeros.

    padding="valid"    no zeros
    padding="same"     size / stride places, rounded up; as many zeros as the last of these places
                       needs, at least 0; half of them before the row. If one is left over, it comes
                       after the row.
    padding="causal"   all zeros come before the row, so many that at the first place only the last
                       number of the filter reads a pixel

Write `zeros_around(size, kernel, stride, dilation, padding)`. It returns three ints: the number of
zeros before the row, the number after it, and the number of places.
"""


def zeros_around(size, kernel, stride, dilation, padding):
    return ...
