"""Read untrusted texts, with limits on their size and errors that name the file.

These limits are checked before a file is read. `kerascope.limits` contains the limits on building
the model.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from kerascope.errors import ConfigError, MissingToolError
from kerascope.limits import (
    CALL_COST,
    GREATEST_NUMBER,
    HOW_TO_LIFT,
    LAYER_COST,
    USUAL,
    Limits,
    in_words,
)

# --- limits ---------------------------------------------------------------------------------------


LARGEST_CONFIG = 64 * 2**20  # bytes of JSON; the configuration of ResNet152 has less than 1 MB
GREATEST_RATIO = 100  # declared size over stored size
FREE_SIZE = 4 * 2**20  # bytes: below this the ratio does not matter
MOST_MEMBERS = 10_000  # members of an archive
MOST_OBJECTS = 500_000  # groups and arrays in an HDF5 file
DEEPEST_GROUP = 100  # nested groups
DEEPEST_CONFIG = 200  # nested lists and dicts
LARGEST_YAML = 2 * 2**20  # characters
MOST_OF_YAML = 80_000  # keys and values: ResNet152 has 25,000; a second in the parser
LONGEST_NUMBER = 400  # characters of a number in YAML, such as 1:1:1:... in base 60

_INNER = ("layers", "cells", "layer", "cell", "forward_layer", "backward_layer")


def parts_of(entry: Any) -> int:
    """Return how many ops a model has at least, counted as `parts` of `kerascope.limits.Limits`.

    It is computed from the configuration, without creating a layer. This is fast even if a few
    hundred lines describe a model with 2^40 calls.
    """
    return _made_and_run(entry)[0]


def _made_and_run(entry: Any) -> tuple[int, int]:
    """Return the minimum numbers of ops that are made by creating a layer and by one call of it."""
    made, run = LAYER_COST, CALL_COST
    config = entry.get("config") if isinstance(entry, dict) else None
    inner = config if isinstance(config, list) else []
    if isinstance(config, dict):
        for key in _INNER:
            found = config.get(key)
            inner = inner + (found if isinstance(found, list) else [found])
    for one in inner:
        if isinstance(one, dict) and isinstance(one.get("config"), (dict, list)):
            made_one, run_one = _made_and_run(one)
            calls = one.get("inbound_nodes", [None])
            times = len(calls) if isinstance(calls, list) else 1
            made += made_one + times * run_one
            run += times * run_one
    return made, run


# --- texts ----------------------------------------------------------------------------------------
# Texts are checked before they are parsed. A text of 64 MB of brackets would take gigabytes as
# lists, and a YAML parser would run for hours.


def read_json(text: Any, where: str, limits: Limits | None = USUAL) -> Any:
    """Parse a text of JSON.

    Parameters
    ----------
    text : str or bytes
    where : str
        The name of the file in messages.
    limits : Limits or None
        None accepts a text of any size.

    Raises
    ------
    ConfigError
        The text is not JSON, too long, or nested too deeply.
    """
    if not isinstance(text, (str, bytes)):
        raise ConfigError(f"{where}: expected a text of JSON, got {type(text).__name__}.")
    _check_size(text, where, limits, LARGEST_CONFIG)
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"{where}: its configuration is not valid JSON ({error}).") from None
    check_values(value, where)
    return value


def read_yaml(text: Any, where: str, limits: Limits | None = USUAL) -> Any:
    """Parse a text of YAML, which must be plain data without aliases.

    Raises
    ------
    ConfigError
        The text is not YAML, too long, nested too deeply, or has aliases or Python tags.
    MissingToolError
        The text is not JSON, and PyYAML is not installed.
    """
    if not isinstance(text, (str, bytes)):
        raise ConfigError(f"{where}: expected a text of YAML, got {type(text).__name__}.")
    _check_size(text, where, limits, LARGEST_CONFIG)
    try:
        value = json.loads(text)  # JSON is also YAML, and `to_yaml` writes JSON
    except (ValueError, RecursionError):
        _check_size(text, where, limits, LARGEST_YAML)
        value = _parsed(text, where, limits)
    check_values(value, where)
    return value


def _check_size(text: str | bytes, where: str, limits: Limits | None, longest: int) -> None:
    if limits is None:
        return
    if len(text) > longest:
        raise ConfigError(
            f"{where}: expected a configuration of at most {longest:,} characters, got "
            f"{len(text):,}. {HOW_TO_LIFT}"
        )
    marks: Any = (b",", b"[", b"{") if isinstance(text, bytes) else (",", "[", "{")
    if sum(map(text.count, marks)) > limits.values:
        raise ConfigError(
            f"{where}: its configuration has more than {limits.values:,} values. {HOW_TO_LIFT}"
        )


def _parsed(text: str | bytes, where: str, limits: Limits | None) -> Any:
    try:
        import yaml  # imported here, because it is slow to import and rarely used
    except ImportError:
        raise MissingToolError(
            f"{where}: needs PyYAML, which is not installed. Run `pip install pyyaml`, or use "
            "model_from_json."
        ) from None

    # The loader in C, which PyYAML does not always have, is ten times as fast.
    base: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

    class Loader(base):  # type: ignore[misc]  # yaml has no types
        """A YAML loader of plain data that refuses long numbers."""

        def construct_scalar(self, node: Any) -> Any:
            is_number = str(node.tag).endswith((":int", ":float"))
            if is_number and len(node.value) > LONGEST_NUMBER:
                raise ConfigError(f"{where}: has a number of {len(node.value)} characters.")
            return super().construct_scalar(node)

    as_text = text.decode(errors="replace") if isinstance(text, bytes) else text
    # A tuple of Keras 2 becomes a list. Other Python tags remain and fail.
    as_text = as_text.replace("!!python/tuple", "")
    try:
        _check_events(yaml.parse(as_text, base), where, limits)
        return yaml.load(as_text, Loader)
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        if isinstance(error, ConfigError):
            raise
        # Newer versions of PyYAML check the depth themselves, before the first event.
        if isinstance(error, RecursionError) or "nesting depth" in str(error):
            raise ConfigError(f"{where}: its configuration is nested too deeply.") from None
        reason = str(error).replace("\n", " ")
        raise ConfigError(f"{where}: the text is not plain YAML ({reason}).") from None


def _check_events(events: Iterable[Any], where: str, limits: Limits | None) -> None:
    """Raise ConfigError for YAML with aliases, too many values or too deep nesting."""
    depth = nodes = 0
    for event in events:
        kind = type(event).__name__
        if kind == "AliasEvent":
            raise ConfigError(
                f"{where}: expected each part in full, as model.to_yaml() writes it, got an alias "
                f"(*name) in line {event.start_mark.line + 1}."
            )
        if kind in ("SequenceEndEvent", "MappingEndEvent"):
            depth -= 1
        elif kind in ("SequenceStartEvent", "MappingStartEvent"):
            depth += 1
            nodes += 1
        elif kind == "ScalarEvent":
            nodes += 1
        if limits is not None and nodes > MOST_OF_YAML:
            raise ConfigError(
                f"{where}: its configuration has more than {MOST_OF_YAML:,} keys and values. "
                f"{HOW_TO_LIFT}"
            )
        if depth > DEEPEST_CONFIG:
            raise ConfigError(f"{where}: its configuration is nested too deeply.")


def check_values(value: Any, where: str) -> None:
    """Raise ConfigError if a configuration is nested too deeply or has a number beyond 2^63."""
    level, depth = [value], 0
    while level:
        depth += 1
        if depth > DEEPEST_CONFIG:
            raise ConfigError(f"{where}: its configuration is nested too deeply.")
        inner: list[Any] = []
        for outer in level:
            values = outer.values() if isinstance(outer, dict) else outer
            for one in values if isinstance(outer, (dict, list)) else [outer]:
                if isinstance(one, (dict, list)):
                    inner.append(one)
                elif isinstance(one, int) and abs(one) > GREATEST_NUMBER:
                    raise ConfigError(_too_large(outer, one, where))
        level = inner


def _too_large(outer: Any, number: int, where: str) -> str:
    keys = [key for key, one in outer.items() if one is number] if isinstance(outer, dict) else []
    place = f"{keys[0]!r} in its configuration" if keys else "a value of its configuration"
    return f"{where}: expected numbers of at most 2^63, got {in_words((number,))[1:-2]}: {place}."
