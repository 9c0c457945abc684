"""The page that plays a tape: `ks.play`, `kerascope play`, and the players of the lessons.

    import kerascope as ks

    ks.play(model, x, y).save("step.html")

The result is one HTML file with the trace as JSON, the model's graph as SVG with the values on its
arrows (a training step as its ladder), and a script without a library. It opens from a file and
needs no other files. Large data are compressed.

The author of a chapter chooses the content (see `Player`). The chapter shows the player with a
separate paragraph: `![What it shows](out/forward.html){.player trace=ID}`, where ID is the block
that saves it.

    from kerascope.player import Player

    Player(
        tape,
        title={"en": "...", "zh": "..."},
        from_="phase:forward", until="phase:commit",   # events, as breakpoints name them, or times
        level="node",                                  # leave out ops and details
        lanes=("forward", "backward", "update"),       # only these lanes
        graph=model,                                   # the model to draw, if the tape has none
        stops=["dense_2", "phase:commit"],             # or {"dense_2": {"en": "...", "zh": "..."}}
        gates=[
            {
                "at": "event:tmap.set dense_2",        # hidden until the reader has answered
                "ask": {"en": "Which key comes next?", "zh": "下一个键是什么？"},
                "answer": "dense_2",                   # the same in both languages
                "choices": ["dense_1", "dense_2"],     # without choices, the reader types
            },
        ],
        beside=other_tape,                             # a second trace at the right side
        names=({"en": "first", "zh": "第一次"}, {"en": "second", "zh": "第二次"}),
    )

`playing.py` is `ks.play`. `player.py` selects the events and makes the page. `steps.py` converts
the events to data, `captions.py` writes a caption for each from `sentences.py`, and `flows.py`
determines the values on the arrows. `picture.py` draws the graph, with padding from `room.py`, and
has the states of its boxes. `step_ladder.py` does all this for the ladder of a training step.
`page_html.py` and the files in `page/` are the page. `words.py` has all other texts in two
languages.

`moving.py` makes pictures without a script: an animated one, and a strip of still pictures.
`beats.py` determines which boxes appear together, and `value_labels.py` draws the values.
`film.py` makes a film of many steps from the same ladder. `second_run.py` makes a second run with
one thing changed, and finds the first difference between two runs.
"""

from kerascope.player.player import Player

__all__ = ["Player"]
