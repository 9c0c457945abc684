"""The lesson player: a page that plays a tape, step by step, forward and backward.

    import kerascope as ks
    from kerascope.lessons.player import Player

    with ks.trace(model) as tape:
        model.predict(x)
    Player(tape, title={"en": "The forward pass", "zh": "前向传播"}).save("out/forward.html")

One HTML file comes of it, with the trace as JSON, the model's graph as SVG with a row for each
depth, and a script without a library; it opens from a file and asks for nothing. In a chapter it is
shown by a paragraph of its own: `![What it shows](out/forward.html){.player trace=ID}`, where ID is
the block that saves it.

What an author chooses (`Player` says more):

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

At most 1,000 steps and 150 KB; above that `save` says what to cut.

`player.py` chooses the events and puts the page together: `steps.py` turns the events into
data; `picture.py` draws and says how far each box is; `page_html.py` and the
files in `page/` are the page; `words.py` says everything in two languages.
"""

from kerascope.lessons.player.player import Player

__all__ = ["Player"]
