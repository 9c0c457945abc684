"""The course's machinery: chapters whose every printed line is compared with what runs.

A chapter is a folder of `tutorials/` with one Markdown file for each language. `parser.py` reads
it, `runner.py` runs its blocks in a process of their own (`child.py`), `comparison.py` says whether
a stored output still holds, `checking.py` gathers all that is wrong with a chapter, `accepting.py`
writes anew what has changed. `render_html.py` and `render_notebook.py` make pages and notebooks of
it, `reading.py` a text for the terminal.

    from kerascope.lessons.reading import chapter_text

The command is `kerascope lessons check|build|html|notebook` (`commands.py`).

How to write a chapter:

1. Make `tutorials/NN-topic/lesson.en.md`. `parser.py` says what may stand in it. Write the blocks
   without their outputs; a block that makes a picture saves it as `out/NAME.svg`.
2. `kerascope lessons build --accept NN` runs the blocks and writes the outputs and the pictures.
   A player (`player/__init__.py`) is saved as `out/NAME.html` and stored in the same way.
   Read them. An output that is too long may be cut: a line `...` stands for any number of lines.
3. Write `lesson.zh.md`: the same sections, blocks and pictures, with words of its own. Words of
   `glossary.toml` are used in both.
4. Prose names no number that no output shows; one that needs no proof is marked: `1983{.free}`.
5. The last section is called `documents`: a table whose last column names the blocks that show each
   fact (`facts.py`).
6. `kerascope lessons build --accept --translated both NN` stores in each section the hash of its
   twin. When one is changed later, `check` says so until the other is brought up to date.
"""
