// The layout: sizes from the inside out, then positions from the outside in. Port of arrange.py.

/** Return the positions of visible boxes, frames, paths and labels, and the size. */
function arrange(showing, rankdir) {
  const { graph } = showing;
  const isSideways = rankdir === "LR";
  const done = new Map();
  const frames = new Map();
  for (const stored of graph.levels) {
    if (stored.group >= 0 && !showing.isOpen(stored.group)) continue;
    const level = shownLevel(stored, showing);
    const arranged = arrangeLevel(level, graph, frames, isSideways);
    done.set(stored.group, arranged);
    if (stored.group >= 0) frames.set(graph.count + stored.group, frameShape(arranged));
  }
  const picture = new Arrangement(showing, done, isSideways);
  picture.putLevels();
  return picture.result();
}

/** Return the width, the height and the margins (left, top, right, bottom) of a box. */
function sizeOf(box, isSideways) {
  const [width, height, wide = width, high = height, left = 0, right = 0] = box.size;
  if (isSideways) return { width: wide, height: high, margins: [left, 0, right, 0] };
  const { inputs, outputs } = box.cells;
  const above = inputs.length ? LAYOUT.cellHeight : 0;
  const below = outputs.length ? LAYOUT.cellHeight : 0;
  return { width, height, margins: [0, above, 0, below] };
}

function arrangeLevel(level, graph, frames, isSideways) {
  const title = level.group >= 0 ? graph.groups[level.group].size : [0, 0];
  const plain = (across, along) => ({ across, along, doors: new Map() });
  const shapes = level.kinds.map((kind, item) => {
    if (kind === FRAME) return frames.get(level.things[item]);
    if (kind === TITLE) return isSideways ? plain(0, 0) : plain(...title);
    if (kind !== BOX) return plain(kind === BEND ? LAYOUT.bendWidth : LAYOUT.doorWidth, 0);
    const { width, height } = sizeOf(graph.boxes[level.things[item]], isSideways);
    return isSideways ? plain(height, width) : plain(width, height);
  });
  const padding = LAYOUT.framePadding;
  if (!shapes.length) {
    const places = { middle: [], tops: [], bottoms: [], lanes: [], across: 0, along: 0 };
    return { level, shapes, places, before: [0, 0], after: [0, 0] };
  }
  const places = placeLevel(level, shapes);
  if (level.group < 0) return { level, shapes, places, before: [0, 0], after: [0, 0] };
  let before = [padding, padding / 2];
  let after = [padding, padding / 2];
  if (isSideways) {
    before = [title[1] + padding, padding / 2];
    const least = title[0] + 2 * padding;
    after = [padding, Math.max(padding / 2, least - places.along - before[1])];
  }
  return { level, shapes, places, before, after };
}

/** Return the frame around a level as an item of the level around it. */
function frameShape({ level, places, before, after }) {
  const across = before[0] + places.across + after[0];
  const along = before[1] + places.along + after[1];
  const doors = new Map();
  level.kinds.forEach((kind, item) => {
    if (kind !== ENTRY && kind !== EXIT) return;
    doors.set(kind + level.things[item], before[0] + places.middle[item] - across / 2);
  });
  return { across, along, doors };
}

class Arrangement {
  /** Computes the positions in the whole picture. */
  constructor(showing, done, isSideways) {
    this.showing = showing;
    this.graph = showing.graph;
    this.done = done;
    this.isSideways = isSideways;
    this.boxes = new Map();
    this.frames = new Map();
    this.pieces = new Map();
    this.depthStrip = this.graph.depthRanks ? this._depthStrip() : 0;
  }

  _depthStrip() {
    if (this.isSideways) return LAYOUT.depthSize + 8;
    return this.graph.depthStrip;
  }

  putLevels() {
    const [wide, high] = this.graph.captionSize;
    const root = this.done.get(-1);
    let across = LAYOUT.margin + this.depthStrip;
    let along = LAYOUT.margin;
    if (this.isSideways) {
      across += high + LAYOUT.captionGap;
    } else {
      along += high + LAYOUT.captionGap;
      across += Math.max(0, (wide - root.places.across) / 2);
    }
    this.origin = [across, along];
    this._put(root, across, along);
    for (const group of this.graph.groups) {
      if (!this.showing.isOpen(group.index)) continue;
      const rect = this.frames.get(group.number);
      const corner = this.isSideways ? [rect.y, rect.x] : [rect.x, rect.y];
      const arranged = this.done.get(group.index);
      this._put(arranged, corner[0] + arranged.before[0], corner[1] + arranged.before[1]);
    }
  }

  _put(arranged, across, along) {
    const { level, shapes, places } = arranged;
    const reach = level.kinds.map((kind, item) => {
      const [top, bottom] = [places.tops[level.rowOf[item]], places.bottoms[level.rowOf[item]]];
      if (kind === ENTRY) return [-arranged.before[1], -arranged.before[1]];
      if (kind === EXIT) return Array(2).fill(places.along + arranged.after[1]);
      if (kind !== BOX && kind !== FRAME) return [top, bottom];
      const shape = shapes[item];
      const start = (top + bottom - shape.along) / 2;
      const left = across + places.middle[item] - shape.across / 2;
      const rect = this._rect(left, along + start, shape.across, shape.along);
      (kind === BOX ? this.boxes : this.frames).set(level.things[item], rect);
      return [start, start + shape.along];
    });
    for (const route of level.routes) {
      const points = routePoints(level, shapes, places, route, reach);
      const moved = points.map(([a, b]) => [a + across, b + along]);
      if (!this.pieces.has(route.edge)) this.pieces.set(route.edge, []);
      this.pieces.get(route.edge).push([route, moved]);
    }
  }

  _rect(across, along, wide, deep) {
    const [x, y, width, height] = this.isSideways
      ? [along, across, deep, wide]
      : [across, along, wide, deep];
    return { x, y, width, height };
  }

  result() {
    const root = this.done.get(-1).places;
    const across = this.origin[0] + root.across + LAYOUT.margin;
    const along = this.origin[1] + root.along + LAYOUT.margin;
    let [width, height] = this.isSideways ? [along, across] : [across, along];
    const left = LAYOUT.margin + (this.isSideways ? 0 : this.depthStrip);
    width = Math.max(width, left + this.graph.captionSize[0] + LAYOUT.margin);
    const paths = new Map();
    for (const edge of this.showing.arrows.keys()) paths.set(edge, this._path(edge));
    const labels = placeLabels(this.showing, this.boxes, paths);
    for (const rect of labels.values()) {
      width = Math.max(width, rect.x + rect.width + LAYOUT.margin);
    }
    const { boxes, frames } = this;
    const depths = this.graph.depthRanks ? this._depths() : new Map();
    return { width, height, boxes, frames, paths, labels, depths, left };
  }

  /** Join the pieces of an arrow; an arrow that points upward is reversed. */
  _path(edge) {
    const pieces = this.pieces.get(edge).sort((one, other) => one[0].place - other[0].place);
    let points = pieces.flatMap(([, part], i) => (i ? part.slice(1) : part));
    if (pieces[0][0].turned) points = points.reverse();
    return this.isSideways ? points.map(([a, b]) => [b, a]) : points;
  }

  _depths() {
    const { level, places } = this.done.get(-1);
    const strips = new Map();
    level.depths.forEach((depth, row) => {
      if (depth === null) return;
      const deep = places.bottoms[row] - places.tops[row];
      const across = this.origin[0] - this.depthStrip;
      const top = this.origin[1] + places.tops[row];
      strips.set(depth, this._rect(across, top, this.depthStrip, deep));
    });
    return strips;
  }
}
