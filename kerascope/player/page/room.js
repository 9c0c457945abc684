// Padding between the rows of a picture, for values on its arrows: player/room.py in JavaScript.

/** Return places with enough padding between rows. A ladder already has it. */
function roomy(places, { least, beside }) {
  const strips = stripsOf(places.boxes).filter(([top, bottom]) => bottom - top < least);
  let before = 0;
  const grown = strips.map(([top, bottom]) => {
    const more = before;
    before += least - (bottom - top);
    return more;
  });
  const moved = (y) => {
    const last = strips.findLastIndex(([top]) => top <= y);
    if (last < 0) return y;
    const [top, bottom] = strips[last];
    return y + grown[last] + (Math.min(y, bottom) - top) * (least / (bottom - top) - 1);
  };
  const movedRect = ({ x, y, width, height }) =>
    ({ x, y: moved(y), width, height: moved(y + height) - moved(y) });
  const each = (map, change) => new Map([...map].map(([key, value]) => [key, change(value)]));
  return {
    ...places,
    width: places.width + beside,
    height: moved(places.height),
    boxes: each(places.boxes, movedRect),
    frames: each(places.frames, movedRect),
    depths: each(places.depths, movedRect),
    paths: each(places.paths, (points) => points.map(([x, y]) => [x, moved(y)])),
    labels: each(places.labels, (rect) => ({ ...rect, y: moved(rect.y) })),
  };
}

/** Return the vertical strips between the boxes. */
function stripsOf(boxes) {
  const found = [];
  let reached = Infinity;
  for (const { y, height } of [...boxes.values()].sort((one, other) => one.y - other.y)) {
    if (y > reached + 1) found.push([reached, y]);
    reached = reached === Infinity ? y + height : Math.max(reached, y + height);
  }
  return found;
}
