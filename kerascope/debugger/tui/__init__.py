"""The full-screen interface of the debugger: `kerascope debug --tui script.py`; needs Textual.

::

    program's thread                              main thread
    script > stop > ScreenDebugger.read  <lines--  DebuggerApp: keys, prompt
                          onecmd         --view-->  panes
printed text                 --text-->  transcript
                                 (Bridge)

The same commands run as at the plain prompt, in the program's thread, while the program waits. The
app draws the screen and sends lines: a key sends a line, which is echoed as if it had been typed.
"""
