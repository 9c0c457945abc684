"""The distances of the layout, as the page gets them: the numbers stand in `layout/` only."""

from __future__ import annotations

from typing import Any

from kerascope.viz.layout import arrange, edge_labels, measures, places, routes, strands, text_width
from kerascope.viz.layout.levels import BEND, BOX, ENTRY, EXIT, FRAME, TITLE
from kerascope.viz.svg import boxes as svg_boxes

# What an item is, in one letter.
LETTERS = {BOX: "b", FRAME: "f", ENTRY: "e", EXIT: "x", BEND: "d", TITLE: "t"}


def layout_constants() -> dict[str, Any]:
    """Return every number that `viewer/` needs to find the same places as `layout/`."""
    return {
        "gaps": {LETTERS[kind]: gap for kind, gap in places.GAPS.items()},
        "rowGap": places.ROW_GAP,
        "doorGap": places.DOOR_GAP,
        "widestRowGap": places.WIDEST_ROW_GAP,
        "steepness": places.STEEPNESS,
        "laneWidth": places.LANE_WIDTH,
        "rounds": places.ROUNDS,
        "straight": [places.STRAIGHT[bends] for bends in range(3)],
        "indifferent": places.INDIFFERENT,
        "strandRounds": strands.ROUNDS,
        "swing": routes.SWING,
        "turn": routes.TURN,
        "margin": arrange.MARGIN,
        "framePadding": arrange.FRAME_PADDING,
        "bendWidth": arrange.BEND_WIDTH,
        "doorWidth": arrange.DOOR_WIDTH,
        "depthSize": arrange.DEPTH_SIZE,
        "captionGap": arrange.CAPTION_GAP,
        "labelSize": edge_labels.LABEL_SIZE,
        "labelHeight": edge_labels.LABEL_HEIGHT,
        "titleSize": measures.TITLE_SIZE,
        "lineSize": measures.LINE_SIZE,
        "cellSize": measures.CELL_SIZE,
        "captionSize": measures.CAPTION_SIZE,
        "frameSize": measures.FRAME_SIZE,
        "titleHeight": measures.TITLE_HEIGHT,
        "lineHeight": measures.LINE_HEIGHT,
        "cellHeight": measures.CELL_HEIGHT,
        "captionHeight": measures.CAPTION_HEIGHT,
        "paddingY": measures.PADDING_Y,
        "signGap": measures.SIGN_GAP,
        "sheet": svg_boxes.SHEET,
        "mostSheets": svg_boxes.MOST_SHEETS,
        "fold": svg_boxes.FOLD,
        "rounding": svg_boxes.ROUND,
        "bold": text_width.BOLD,
        "slack": text_width.SLACK,
    }
