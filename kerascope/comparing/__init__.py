"""Two models side by side: the first call at which they stop agreeing.

`compare(a, b, x)` runs both once, `own_models` for ours and `kerascope.foreign` for those of other
libraries; `runs` gives both the same form. `alignment` says which call of one is which call of the
other, `arrays` and `weights` how far two arrays or two layers are apart, `reasons` what can be
checked of why. The result is a `Comparison`, which `tables` prints.
"""
