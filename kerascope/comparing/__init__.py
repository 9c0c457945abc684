"""Compare two models: run both on the same input and find the first call at which they differ.

`compare(a, b, x)` runs both models once: `own_models` runs models of kerascope, and
`kerascope.foreign` those of other libraries. `runs` brings both runs into the same form.
`alignment` pairs the calls of the two runs. `arrays` and `weights` measure the difference of two
arrays or two layers, and `reasons` checks possible causes. The result is a `Comparison`, which
`tables` prints.
"""
