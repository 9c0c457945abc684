"""Reads a figure of blocks or columns from its SVG alone: its marks, how often each counts, arrows.

Nothing here asks our own code what it drew. A line leads from the box that it touches with its
start to the box that it touches with its end, or goes on where another line begins.
"""

import re
from collections import defaultdict
from dataclasses import dataclass, field
from itertools import pairwise
from math import hypot

from figure_models import SVG, elements

NEAR = 1.7  # points: so far from its box an arrow may end
NEXT = 3.4  # and so far from where the next line begins, at the rim of a frame with copies


@dataclass
class Drawn:
    """One mark that stands for layers."""

    layers: tuple[str, ...]
    area: tuple[float, float, float, float]
    times: int = 1
    is_framed: bool = False
    words: list[str] = field(default_factory=list)
    copies: str = ""  # of a projection: "1 of 3"


def _points(path):
    return [tuple(map(float, one.split(","))) for one in re.split("[MLZ]", path.get("d")) if one]


def _area(points):
    across, down = zip(*points, strict=True)
    return min(across), min(down), max(across), max(down)


def _holds(area, point, room=0.0):
    left, top, right, bottom = area
    return left - room <= point[0] <= right + room and top - room <= point[1] <= bottom + room


def _distance(point, path):
    """Return how far a point is from a line of straight pieces."""
    best = float("inf")
    for (x0, y0), (x1, y1) in pairwise(path):
        long = (x1 - x0) ** 2 + (y1 - y0) ** 2
        along = ((point[0] - x0) * (x1 - x0) + (point[1] - y0) * (y1 - y0)) / long if long else 0
        along = min(1.0, max(0.0, along))
        x, y = x0 + along * (x1 - x0), y0 + along * (y1 - y0)
        best = min(best, hypot(point[0] - x, point[1] - y))
    return best


def read_figure(svg):
    """Return the marks of a figure, and its arrows as pairs of their numbers.

    An arrow that ends nowhere has None for its end, one that begins nowhere None for its start.
    """
    marks, lines, frames, texts = [], [], [], []
    cells = []  # of a recurrent layer the first names its layers
    for one in elements(svg, "path", "circle", "text"):
        if one.tag == f"{SVG}text":
            texts.append(one)
            continue
        if one.tag == f"{SVG}circle":
            x, y, radius = (float(one.get(key)) for key in ("cx", "cy", "r"))
            area = x - radius, y - radius, x + radius, y + radius
        else:
            points = _points(one)
            if one.get("fill") == "none":
                lines.append(points)
                continue
            if len(points) == 3:  # the head of the line before
                lines[-1] = [*lines[-1], points[0]]
                continue
            area = _area(points)
        if one.get("data-layers"):
            layers = tuple(one.get("data-layers").split("\n"))
            marks.append(Drawn(layers, area, copies=one.get("data-copies") or ""))
        elif one.get("stroke-dasharray"):
            frames.append(area)
        else:
            cells.append(area)
    for area in cells:
        for mark in marks:
            left, top, right, bottom = mark.area
            same = abs(area[1] - top) < 0.1 and abs(area[3] - bottom) < 0.1
            if same and 0 < area[0] - left < 4.5 * (area[2] - area[0]):
                mark.area = left, top, max(right, area[2]), bottom
    for one in texts:
        at = float(one.get("x")), float(one.get("y")) - 1
        if one.get("data-count"):
            times = int(one.get("data-count"))
            around = [frame for frame in frames if _holds(frame, at)]
            around = min(around, key=lambda frame: frame[2] - frame[0])
            for mark in marks:
                middle = (mark.area[0] + mark.area[2]) / 2, (mark.area[1] + mark.area[3]) / 2
                if _holds(around, middle):
                    mark.times, mark.is_framed = times, True
        for mark in marks:
            if _holds(mark.area, at):
                mark.words.append(one.text)
    for mark in marks:
        counts = [re.search(r" \u00d7 (\d+)", word) for word in mark.words]
        if any(counts) and not mark.is_framed:
            mark.times = int(next(filter(None, counts))[1])
    return marks, _arrows(marks, lines)


def _arrows(marks, lines):
    boxes = [(number, mark.area) for number, mark in enumerate(marks) if not mark.copies]

    def touching(point):
        return next((number for number, area in boxes if _holds(area, point, NEAR)), None)

    begins = [touching(line[0]) for line in lines]
    ends = [touching(line[-1]) for line in lines]
    goes_on = defaultdict(list)
    leads_on = set()
    for later, line in enumerate(lines):
        if begins[later] is not None:
            continue
        near = [
            (_distance(line[0], other), earlier)
            for earlier, other in enumerate(lines)
            if earlier != later
        ]
        joined = [earlier for far, earlier in near if far < 0.8]
        if not joined:  # at the rim of a frame
            joined = [
                earlier
                for earlier, other in enumerate(lines)
                if earlier != later and _distance(other[-1], line[:2]) < NEXT
            ]
        leads_on |= {later} if joined else set()
        for earlier in joined:
            goes_on[earlier].append(later)
    for earlier, line in enumerate(lines):  # what comes to a line from its side
        if ends[earlier] is None:
            goes_on[earlier] += [
                later
                for later, other in enumerate(lines)
                if later != earlier and _distance(line[-1], other) < 0.8
            ]
    found = set()
    for start, box in enumerate(begins):
        if box is None and start not in leads_on:
            found.add((None, ends[start]))
        if box is None:
            continue
        waiting, seen = [start], set()
        while waiting:
            line = waiting.pop()
            if line in seen:
                continue
            seen.add(line)
            waiting += goes_on[line]
            if ends[line] is not None:
                found.add((box, ends[line]))
            elif not goes_on[line]:
                found.add((box, None))
    return found
