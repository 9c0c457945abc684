// The positions of the labels of arrows: on their arrow, but not on boxes or other labels.

const LABEL_CELL = 120; // size of the cells of the grid that indexes rectangles
const LABEL_STEPS = [0.5, 0.4, 0.6, 0.3, 0.7, 0.2, 0.8, 0.1, 0.9];

/** Return a rectangle for the label of each visible arrow that has one. */
function placeLabels(showing, boxes, paths) {
  const found = new Map();
  const labelled = [...showing.arrows.values()].filter(({ edge }) => edge.label.text);
  if (!labelled.length) return found;
  const taken = new Grid();
  for (const rect of boxes.values()) taken.add(rect);
  for (const { edge } of labelled) {
    const width = edge.label.width(LAYOUT.labelSize) + 4;
    const choices = labelChoices(paths.get(edge.number), width);
    const rect = choices.find((choice) => !taken.hits(choice)) || choices[0];
    taken.add(rect);
    found.set(edge.number, rect);
  }
  return found;
}

function labelChoices(points, width) {
  const middles = LABEL_STEPS.map((share) => pointAt(points, share));
  const height = LAYOUT.labelHeight;
  return [0, width / 2 + 4, -width / 2 - 4].flatMap((shift) =>
    middles.map(([x, y]) => ({ x: x - width / 2 + shift, y: y - height / 2, width, height })),
  );
}

/** Return the point of a path at a share (0 to 1) of its curves. */
function pointAt(points, share) {
  const curves = (points.length - 1) / 3;
  const number = Math.min(Math.trunc(share * curves), curves - 1);
  const t = share * curves - number;
  const weights = [(1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t ** 2 * (1 - t), t ** 3];
  const four = points.slice(3 * number, 3 * number + 4);
  return [0, 1].map((axis) => weights.reduce((sum, w, i) => sum + w * four[i][axis], 0));
}

class Grid {
  /** A spatial index of rectangles, to find overlaps. */
  constructor() {
    this.cells = new Map();
  }

  add(rect) {
    for (const cell of this._cellsOf(rect)) {
      if (!this.cells.has(cell)) this.cells.set(cell, []);
      this.cells.get(cell).push(rect);
    }
  }

  hits(rect) {
    const overlaps = (other) =>
      rect.x < other.x + other.width &&
      other.x < rect.x + rect.width &&
      rect.y < other.y + other.height &&
      other.y < rect.y + rect.height;
    return this._cellsOf(rect).some((cell) => (this.cells.get(cell) || []).some(overlaps));
  }

  _cellsOf({ x, y, width, height }) {
    const cell = (length) => Math.floor(length / LABEL_CELL);
    const found = [];
    for (let column = cell(x); column <= cell(x + width); column++) {
      for (let row = cell(y); row <= cell(y + height); row++) found.push(`${column} ${row}`);
    }
    return found;
  }
}
