// Moving through the picture with the arrow keys: along arrows, against them, and within a row.

/** Return the box or frame that a key selects from another one; -1 for none. */
function nextThing(viewer, number, key) {
  const isSideways = viewer.rankdir === "LR";
  const ways = isSideways
    ? { ArrowRight: "on", ArrowLeft: "back", ArrowUp: "before", ArrowDown: "after" }
    : { ArrowDown: "on", ArrowUp: "back", ArrowLeft: "before", ArrowRight: "after" };
  const way = ways[key];
  if (way === "on") return alongArrows(viewer, number, true);
  if (way === "back") return alongArrows(viewer, number, false);
  return besideThing(viewer, number, way === "after" ? 1 : -1, isSideways);
}

/** Follow an arrow; a frame is entered from above at its title. */
function alongArrows(viewer, number, onwards) {
  const { graph, picture, showing } = viewer;
  const isFrame = picture.places.frames.has(number);
  if (isFrame && onwards) return firstInside(viewer, number);
  const own = isFrame ? number : -1;
  const found = [];
  for (const arrow of showing.arrows.values()) {
    const [from, to] = onwards ? [arrow.source, arrow.target] : [arrow.target, arrow.source];
    const crosses = own >= 0 && isWithin(graph, from, own) && !isWithin(graph, to, own);
    if (to === number || !(from === number || crosses)) continue;
    found.push(onwards ? entered(viewer, number, to) : to);
  }
  if (onwards || isFrame) return nearest(viewer, number, found);
  const [frame] = groupsAround(graph, number);
  if (frame === undefined) return nearest(viewer, number, found);
  const inside = found.filter((to) => isWithin(graph, to, graph.count + frame));
  return inside.length ? nearest(viewer, number, inside) : graph.count + frame;
}

/** Return the outermost frame around `to` that does not contain `from`, or else `to`. */
function entered({ graph }, from, to) {
  const around = new Set(groupsAround(graph, from));
  const frames = groupsAround(graph, to).filter((group) => !around.has(group));
  return frames.length ? graph.count + frames[frames.length - 1] : to;
}

function isWithin(graph, number, frame) {
  return number === frame || groupsAround(graph, number).includes(frame - graph.count);
}

/** Return the first box or frame directly inside a frame. */
function firstInside({ graph, picture, rankdir }, frame) {
  let [best, least] = [-1, Infinity];
  for (const number of picture.elements.keys()) {
    if (graph.boxes[number].parent !== frame - graph.count) continue;
    const { x, y } = picture.rectOf(number);
    const place = rankdir === "LR" ? x + y / 1e6 : y + x / 1e6;
    if (place < least) [best, least] = [number, place];
  }
  return best;
}

function nearest({ picture }, number, choices) {
  const [x, y] = middleOf(picture.rectOf(number));
  let [best, least] = [-1, Infinity];
  for (const choice of choices) {
    const [a, b] = middleOf(picture.rectOf(choice));
    const distance = Math.hypot(a - x, b - y);
    if (distance < least) [best, least] = [choice, distance];
  }
  return best;
}

/** Return the nearest box or frame to the left or right in about the same row. */
function besideThing({ graph, picture }, number, sign, isSideways) {
  const own = spanOf(picture.rectOf(number), isSideways);
  let [best, least] = [-1, Infinity];
  for (const other of picture.elements.keys()) {
    if (isWithin(graph, number, other) || isWithin(graph, other, number)) continue;
    const span = spanOf(picture.rectOf(other), isSideways);
    const shared = Math.min(own.end, span.end) - Math.max(own.start, span.start);
    const distance = sign * (span.middle - own.middle);
    if (shared > 0 && distance > 0 && distance < least) [best, least] = [other, distance];
  }
  return best;
}

/** Return the interval of a rectangle along, and its middle across. */
function spanOf(rect, isSideways) {
  const [x, y] = middleOf(rect);
  if (isSideways) return { start: rect.x, end: rect.x + rect.width, middle: y };
  return { start: rect.y, end: rect.y + rect.height, middle: x };
}

function middleOf({ x, y, width, height }) {
  return [x + width / 2, y + height / 2];
}
