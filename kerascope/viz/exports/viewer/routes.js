// The curve of each arrow through a level, as points (across, along). Port of arrange.py.

/** Return the points of a route: the start, then three for each curve. */
function routePoints(level, shapes, places, route, reach) {
  const [first, last] = [route.stops[0], route.stops[route.stops.length - 1]];
  if (route.isBeside) return straightBeside(shapes, places, first, last, reach);
  const start = places.middle[first] + endOf(level, shapes, first, route.edge, route.tail, EXIT);
  const end = places.middle[last] + endOf(level, shapes, last, route.edge, route.head, ENTRY);
  const line = new Line([start, reach[first][1]]);
  line.straightTo(places.bottoms[level.rowOf[first]]);
  if (route.lane < 0) alongTheRows(line, level, places, route, end);
  else alongTheLane(line, level, places, route, end);
  line.straightTo(reach[last][0]);
  return line.points;
}

/** Return the straight line from the side of a box to the side of its neighbour in the row. */
function straightBeside(shapes, places, first, last, reach) {
  const sign = places.middle[first] < places.middle[last] ? 1 : -1;
  const top = Math.max(reach[first][0], reach[last][0]);
  const along = (top + Math.min(reach[first][1], reach[last][1])) / 2;
  const start = places.middle[first] + (sign * shapes[first].across) / 2;
  const end = places.middle[last] - (sign * shapes[last].across) / 2;
  const third = (end - start) / 3;
  return [start, start + third, end - third, end].map((across) => [across, along]);
}

/** Extend a line from row to row: straight next to boxes, across only between rows. */
function alongTheRows(line, level, places, route, end) {
  const { stops } = route;
  for (let i = 1; i < stops.length; i++) {
    const isLast = i === stops.length - 1;
    const row = level.rowOf[stops[i]];
    const across = isLast ? end : places.middle[stops[i]];
    line.swingTo(across, places.bottoms[level.rowOf[stops[i - 1]]], places.tops[row]);
    if (!isLast) line.straightTo(places.bottoms[row]);
  }
}

/** Extend a line into the lane of a route, along it, and back to the end of the arrow. */
function alongTheLane(line, level, places, route, end) {
  const lane = places.lanes[route.lane];
  const row = level.rowOf[route.stops[0]];
  const lastRow = level.rowOf[route.stops[route.stops.length - 1]];
  const [bottom, top] = [places.bottoms[row], places.tops[lastRow]];
  if (lastRow > row + 1) {
    line.swingTo(lane, bottom, places.tops[row + 1]);
    line.straightTo(places.bottoms[lastRow - 1]);
    line.swingTo(end, places.bottoms[lastRow - 1], top);
    return;
  }
  line.turnTo(lane, bottom, bottom + LAYOUT.turn);
  line.straightTo(top);
  line.turnTo(end, top, top - LAYOUT.turn);
}

class Line {
  /** A curve that is extended piece by piece. */
  constructor(start) {
    this.points = [start];
  }

  get end() {
    return this.points[this.points.length - 1];
  }

  straightTo(along) {
    const across = this.end[0];
    let before = this.end[1];
    if (Math.abs(along - before) < 0.01) return;
    if (this.points.length >= 4 && this.points.slice(-4).every(([x]) => x === across)) {
      before = this.points[this.points.length - 4][1];
      this.points.splice(-3);
    }
    const third = (along - before) / 3;
    this.points.push([across, before + third], [across, along - third], [across, along]);
  }

  swingTo(across, top, bottom) {
    const before = this.end[0];
    if (Math.abs(across - before) < 0.05) {
      this.straightTo(bottom);
      return;
    }
    const bend = (bottom - top) * LAYOUT.swing;
    this.points.push([before, top + bend], [across, bottom - bend], [across, bottom]);
  }

  turnTo(across, along, out) {
    this.points.push([this.end[0], out], [across, out], [across, along]);
  }
}
