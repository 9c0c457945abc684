// The positions of the items of a level, within their rows and from row to row. Port of places.py.
//
// `across` is the coordinate within a row, `along` the one from row to row. In a picture from top
// to bottom they are x and y; from left to right they are y and x.

function placeLevel(level, shapes) {
  const segments = segmentsOf(level);
  let middle = middlesOf(level, shapes, segments);
  let [left, right] = [Infinity, -Infinity];
  shapes.forEach((shape, item) => (left = Math.min(left, middle[item] - shape.across / 2)));
  middle = middle.map((place) => place - left);
  shapes.forEach((shape, item) => (right = Math.max(right, middle[item] + shape.across / 2)));
  const count = 1 + level.routes.reduce((most, route) => Math.max(most, route.lane), -1);
  const lanes = Array.from({ length: count }, (_, i) => right + LAYOUT.laneWidth * (i + 1));
  const { tops, bottoms } = rowPlaces(level, shapes, segments, middle);
  const across = count ? lanes[count - 1] + LAYOUT.laneWidth / 2 : right;
  const along = bottoms[bottoms.length - 1] + (goesBelow(level) ? LAYOUT.rowGap : 0);
  return { middle, tops, bottoms, lanes, across, along };
}

/** Return the position of an arrow on an item, as the distance from the item's middle. */
function endOf(level, shapes, item, edge, share, kind) {
  if (level.kinds[item] === FRAME) return shapes[item].doors.get(kind + edge) || 0;
  return share * shapes[item].across;
}

// --- across --------------------------------------------------------------------------------------

function middlesOf(level, shapes, segments) {
  const ties = segments.map((segment) => tieOf(level, shapes, segment));
  const above = shapes.map(() => []);
  const below = shapes.map(() => []);
  for (const { upper, lower, shift, weight } of ties) {
    above[lower].push([upper, shift, weight]);
    below[upper].push([lower, -shift, weight]);
  }
  const middle = shapes.map(() => 0);
  const spaces = level.rows.map((row) => spacesOf(level, shapes, row));
  level.rows.forEach((row, i) => {
    const packed = spread(row.map(() => 0), row.map(() => 1), spaces[i]);
    row.forEach((item, place) => (middle[item] = packed[place]));
  });
  const last = level.rows.length - 1;
  for (let round = 0; round < LAYOUT.rounds; round++) {
    for (let i = 1; i <= last; i++) relaxRow(level.rows[i], spaces[i], middle, above);
    for (let i = last - 1; i >= 0; i--) relaxRow(level.rows[i], spaces[i], middle, below);
  }
  return straighten(level, ties, spaces, middle);
}

/** Return the ideal shift between the two items of a piece, and its weight. */
function tieOf(level, shapes, { route, upper, lower, isFirst, isLast }) {
  const leaves = isFirst ? endOf(level, shapes, upper, route.edge, route.tail, EXIT) : 0;
  const arrives = isLast ? endOf(level, shapes, lower, route.edge, route.head, ENTRY) : 0;
  const bends = (level.kinds[upper] === BEND) + (level.kinds[lower] === BEND);
  return { upper, lower, shift: leaves - arrives, weight: LAYOUT.straight[bends] };
}

/** Return the least distance of each item's middle from that of the item before it. */
function spacesOf(level, shapes, row) {
  const reach = row.map((item) => shapes[item].across / 2 + LAYOUT.gaps[level.kinds[item]]);
  return reach.map((own, i) => (i ? reach[i - 1] + own : 0));
}

/** Move the items of a row as close as possible to their ideal positions. */
function relaxRow(row, space, middle, wishes) {
  const wanted = [];
  const weights = [];
  for (const item of row) {
    let [total, weight] = [0, 0];
    for (const [other, distance, share] of wishes[item]) {
      total += share * (middle[other] + distance);
      weight += share;
    }
    wanted.push(weight ? total / weight : middle[item]);
    weights.push(weight || LAYOUT.indifferent);
  }
  const places = spread(wanted, weights, space);
  row.forEach((item, i) => (middle[item] = places[i]));
}

/** Return positions as close to the wanted ones as the least distances allow, by pooling. */
function spread(wanted, weights, space) {
  if (wanted.length === 1) return wanted;
  const blocks = [];
  const offsets = [];
  let offset = 0;
  wanted.forEach((want, i) => {
    offset += space[i];
    offsets.push(offset);
    let [mean, weight, count] = [want - offset, weights[i], 1];
    while (blocks.length && blocks[blocks.length - 1][0] >= mean) {
      const [before, more, number] = blocks.pop();
      mean = (mean * weight + before * more) / (weight + more);
      weight += more;
      count += number;
    }
    blocks.push([mean, weight, count]);
  });
  const means = blocks.flatMap(([mean, , count]) => Array(count).fill(mean));
  return means.map((mean, i) => mean + offsets[i]);
}

// --- along ---------------------------------------------------------------------------------------

/** Return the first and last position of each row; gaps are larger for wide steps across. */
function rowPlaces(level, shapes, segments, middle) {
  const steps = level.rows.map(() => 0);
  for (const { upper, lower } of segments) {
    const row = level.rowOf[upper];
    steps[row] = Math.max(steps[row], Math.abs(middle[upper] - middle[lower]));
  }
  const tops = [];
  const bottoms = [];
  let place = goesAbove(level) ? LAYOUT.rowGap : 0;
  level.rows.forEach((items, row) => {
    const height = items.reduce((most, item) => Math.max(most, shapes[item].along), 0);
    tops.push(place);
    bottoms.push(place + height);
    let gap = Math.min(LAYOUT.rowGap + LAYOUT.steepness * steps[row], LAYOUT.widestRowGap);
    if (level.depths.slice(row, row + 2).includes(null)) {
      gap = Math.min(gap, LAYOUT.doorGap + LAYOUT.steepness * steps[row]); // near boxes
    }
    place += height + gap;
  });
  return { tops, bottoms };
}

/** Return whether a lane ends at the first row, so that its arrow arrives from above. */
function goesAbove(level) {
  return level.routes.some(
    ({ lane, stops }) => lane >= 0 && level.rowOf[stops[stops.length - 1]] === 0,
  );
}

/** Return whether a lane begins at the last row, so that its arrow runs below it. */
function goesBelow(level) {
  const end = level.rows.length - 1;
  return level.routes.some(({ lane, stops }) => lane >= 0 && level.rowOf[stops[0]] === end);
}
