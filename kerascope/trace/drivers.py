"""Two drivers of one stepper: a program that runs, and a tape that is read.

Both ask a *prompt* at each stop. A prompt is given the `Stop` and answers with an *order*: a
function that is given the stepper and calls one of its verbs; or None, to be asked no more. So the
same orders make the same stops, whether they are given to `LiveDriver` or to `replay`.
"""

from __future__ import annotations

from collections.abc import Callable

from kerascope.trace.events import Event
from kerascope.trace.sources import Running
from kerascope.trace.stepper import Stepper
from kerascope.trace.stops import Stop

Order = Callable[[Stepper], Stop | None]
Prompt = Callable[[Stop], Order | None]


class LiveDriver:
    """Stands between a program that runs and a prompt.

    What records the program calls the driver after it has appended an event. Where the stepper
    stops, the program waits until the prompt gives an order for which it must go on. Orders that
    stay in the past are done while it waits.

    Parameters
    ----------
    stepper : Stepper
        On a source of class `Running`.
    prompt : callable
        What it raises goes through the program, as `quit` does in pdb.

    Attributes
    ----------
    detached : bool
        Whether the prompt wants to be asked no more. The program runs on alone.
    """

    def __init__(self, stepper: Stepper, prompt: Prompt) -> None:
        self.stepper = stepper
        self.prompt = prompt
        self.detached = False
        self._is_asking = False

    def __call__(self, event: Event) -> None:
        """Stop at an event that has just been appended to the tape, or let the program go on."""
        if self.detached or self._is_asking:
            return  # what the prompt itself evaluates is not what is debugged
        if not self.stepper.passes(event):
            self._ask_from(self.stepper.resume())

    def finish(self) -> None:
        """Tell that the program has ended: the prompt is asked once more, and can look back."""
        source = self.stepper.source
        if isinstance(source, Running):
            source.ended = True
        if not self.detached:
            self._ask_from(self.stepper.resume())

    def _ask_from(self, stop: Stop | None) -> None:
        self._is_asking = True
        try:
            self.detached = ask(self.stepper, stop, self.prompt)
        except BaseException:
            self.detached = True  # what the program still tells on its way out is not asked about
            raise
        finally:
            self._is_asking = False


def ask(stepper: Stepper, stop: Stop | None, prompt: Prompt) -> bool:
    """Ask for orders until one needs the program; return whether there will be no more orders."""
    while stop is not None:
        order = prompt(stop)
        if order is None:
            return True
        stop = order(stepper)
    return False


def replay(stepper: Stepper, prompt: Prompt) -> None:
    """Ask for orders over a source that needs no program to run: the first stop is a step's."""
    ask(stepper, stepper.step(), prompt)
