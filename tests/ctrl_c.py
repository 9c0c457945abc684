"""Starting `kerascope` so that it can be interrupted."""

# What follows `python -c`, before the words of `kerascope`. Whoever started the tests in the
# background has told them, and so all that they start, to ignore Ctrl-C.
HEARS_CTRL_C = (
    "import runpy, signal; signal.signal(signal.SIGINT, signal.default_int_handler);"
    "runpy.run_module('kerascope', run_name='__main__', alter_sys=True)"
)
