"""The full-screen front of the debugger: `kerascope debug --tui script.py`; needs Textual.

::

    program's thread                              main thread
    script > stop > ScreenDebugger.read  <lines--  DebuggerApp: keys, prompt
                          onecmd         --view-->  panes
             what is printed             --text-->  transcript
                                 (Bridge)

The same commands run as at the plain prompt, in the program's thread, while the program waits. The
app draws, and sends lines: each key is a line, and is echoed as if it had been typed.
"""
