"""Ask the real Keras 1.2.2 or 2.2.4 what the rows give, and store it: see README.md beside this.

    python ask.py 2.2.4

It runs under the old Python that the old Keras needs (3.6, 3.7), and in the tests with ours.
"""

import ast
import io
import json
import os
import platform
import sys
import zipfile

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))


def read_rows(version):
    """Return [(key, code)] of a version: the key is the names of a row, and a number if need be."""
    rows, keys = [], {}
    for path in row_files(version):
        for names, code in read_file(path):
            key = " ".join(names)
            keys[key] = keys.get(key, 0) + 1
            rows.append((key if keys[key] == 1 else "%s (%d)" % (key, keys[key]), code))
    return rows


def read_file(path):
    """Return [(names, code)] of a file of rows; `{path}` stands for each name of a head in turn."""
    with io.open(path, encoding="utf-8") as file:
        blocks = ("\n" + file.read()).split("\n## ")[1:]
    rows = []
    for block in blocks:
        head, _, code = block.partition("\n")
        code = "\n".join(line for line in code.split("\n") if not line.startswith("# ")).strip()
        names = ["keras." + name for name in head.split()]
        if "{path}" in code:
            rows += [([name], code.replace("{path}", name)) for name in names]
        else:
            rows.append((names, code))
    return rows


def names_of_prelude():
    """Return the names that the rows use."""
    space = {"__name__": "prelude"}
    path = os.path.join(HERE, "prelude.py")
    with io.open(path, encoding="utf-8") as file:
        exec(compile(file.read(), path, "exec"), space)
    return space


def answer(code, space):
    """Run a row and return the value of its last line."""
    space = dict(space)
    space["reset_uids"]()
    np.random.seed(1)
    tree = ast.parse(code)
    last = tree.body.pop()
    exec(compile(tree, "row", "exec"), space)
    return eval(compile(ast.Expression(last.value), "row", "eval"), space)


def plain(value):
    """Return a value as JSON has words for; an array as its type, shape and numbers."""
    if isinstance(value, (np.ndarray, np.generic)):
        value = np.asarray(value)
        flat = value.ravel().tolist()
        if value.dtype.kind == "f":
            flat = [float("%.8g" % number) for number in flat]
        return {"array": [value.dtype.kind, list(value.shape), flat]}
    if isinstance(value, dict):
        return {"dict": [[plain(key), plain(value[key])] for key in sorted(value)]}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    raise TypeError("a row gives %r, which is no plain value" % (value,))


def row_files(version):
    """Return the files of rows for a version."""
    return [os.path.join(HERE, "rows", name + ".txt") for name in ("both", version)]


def read_answers(path):
    """Return the stored answers: the names of a row -> [code, answer]."""
    if not os.path.exists(path):
        return {}
    with zipfile.ZipFile(path) as archive:
        return json.loads(archive.read("answers.json").decode("utf-8"))


def write_answers(path, answers, made):
    """Write the answers; the same ones give the same bytes."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in (("made.json", made), ("answers.json", answers)):
            entry = zipfile.ZipInfo(name, (2020, 1, 1, 0, 0, 0))
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, json.dumps(content, sort_keys=True))


def main(version, *words):
    """Ask the rows of a version, or those whose names contain one of the words."""
    import keras

    if keras.__version__ != version:
        sys.exit("this is Keras %s" % keras.__version__)
    target = os.path.join(HERE, "answers-%s.zip" % version)
    rows = read_rows(version)
    before = read_answers(target) if words else {}
    asked = {key for key, _ in rows}
    answers = {key: answer for key, answer in before.items() if key in asked}
    space = names_of_prelude()
    failed = []
    for key, code in rows:
        if words and not any(word in key for word in words):
            continue
        try:
            answers[key] = [code, plain(answer(code, space))]
        except Exception as error:
            failed.append("%s: %s: %s" % (key, type(error).__name__, error))
    made = {
        "keras": keras.__version__,
        "backend": keras.backend.backend(),
        "python": platform.python_version(),
        "numpy": np.__version__,
    }
    write_answers(target, answers, made)
    print("%d answers, %d rows failed" % (len(answers), len(failed)))
    print("\n".join(failed))


if __name__ == "__main__":
    main(*sys.argv[1:])
