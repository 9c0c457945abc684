"""The page that plays a tape: `ks.play`, `kerascope play`, and the players of the lessons.

    import kerascope as ks

    ks.play(model, x, y).save("step.html")

One HTML file comes of it, with the trace as JSON, the model's graph as SVG with what flows along
its arrows (a step of training as its ladder), and a script without a library; it opens from a file
and asks for nothing. What is large in it is compressed.

A chapter's author chooses what is shown (`Player` says more); in a chapter it is shown by a
paragraph of its own: `![What it shows](out/forward.html){.player trace=ID}`, where ID is the block
that saves it.

    from kerascope.player import Player

    Player(
        tape,
        title={"en": "...", "zh": "..."},
        from_="phase:forward", until="phase:commit",   # events, as breakpoints name them, or times
        level="node",                                  # leave out ops and details
        lanes=("forward", "backward", "update"),       # leave out what lies around
        graph=model,                                   # what is drawn, if it is not found
        stops=["dense_2", "phase:commit"],             # or {"dense_2": {"en": "...", "zh": "..."}}
        gates=[
            {
                "at": "event:tmap.set dense_2",        # is hidden until the reader has said
                "ask": {"en": "Which key comes next?", "zh": "下一个键是什么？"},
                "answer": "dense_2",                   # the same in both languages
                "choices": ["dense_1", "dense_2"],     # or leave it out: the reader types
            },
        ],
        beside=other_tape,                             # a second trace at the right side
        names=({"en": "first", "zh": "第一次"}, {"en": "second", "zh": "第二次"}),
    )

`playing.py` is `ks.play`. `player.py` chooses the events and puts the page together: `steps.py`
turns the events into data, `captions.py` tells each in a sentence of `sentences.py`, `flows.py`
says what lies on the arrows; `picture.py` draws, with the room that `room.py` makes, and says how
far each box is, `step_ladder.py` does all three for the ladder of a training step; `page_html.py`
and the files in `page/` are the page; `words.py` says everything else in two languages.

The same step without a script, as a picture that moves and as a strip of still ones, is made by
`moving.py`: `beats.py` says what appears together, `chips.py` draws what lies on the arrows.
"""

from kerascope.player.player import Player

__all__ = ["Player"]
