// The level of one rail of a ladder, with ordered rows. Port of levels.py and order.py.
//
// The rows of other pictures are ordered in Python. In a rail, the box of a closed frame may need
// another place than its contents, so rows are ordered again each time a frame opens or closes.

/** Return the depth of each number: the longest path from it to a number without followers. */
function longestPaths(numbers, pairs) {
  const following = new Map(numbers.map((number) => [number, []]));
  for (const [source, target] of pairs) following.get(source).push(target);
  const depths = new Map();
  const opened = new Set();
  for (const start of numbers) {
    const stack = [start];
    while (stack.length) {
      const number = stack[stack.length - 1];
      const next = following.get(number);
      if (depths.has(number) || opened.has(number)) {
        stack.pop();
        if (depths.has(number)) continue;
        const known = next.filter((after) => depths.has(after)).map((after) => depths.get(after));
        depths.set(number, 1 + Math.max(-1, ...known));
      } else {
        opened.add(number);
        stack.push(...next.filter((after) => !depths.has(after) && !opened.has(after)));
      }
    }
  }
  return depths;
}

/** Return the level of some boxes and the arrows between them, with ordered rows. */
function railLevel(numbers, depths, arrows) {
  const sorted = [...numbers].sort((one, other) => depths.get(other) - depths.get(one));
  const values = [...new Set(sorted.map((number) => depths.get(number)))];
  const rowOfDepth = new Map(values.map((depth, row) => [depth, row]));
  const items = new Map(sorted.map((number, item) => [number, item]));
  const level = {
    group: -1,
    kinds: sorted.map(() => BOX),
    things: sorted,
    rowOf: sorted.map((number) => rowOfDepth.get(depths.get(number))),
    rows: values.map(() => []),
    depths: values,
    routes: arrows.map(({ edge, upper, lower, tail, head }) => ({
      edge, tail, head, stops: [items.get(upper), items.get(lower)],
      way: 0, lane: -1, isBeside: false, place: 0, turned: false,
    })),
  };
  level.rowOf.forEach((row, item) => level.rows[row].push(item));
  bendRoutes(level);
  orderRows(level);
  return level;
}

/** Add a bend in each row that a route passes, or assign a lane to a very long route. */
function bendRoutes(level) {
  const { mostBends, longestSpan } = LAYOUT.ladder;
  const span = ({ stops }) => level.rowOf[stops[1]] - level.rowOf[stops[0]];
  let budget = mostBends * level.kinds.length;
  for (const route of [...level.routes].sort((one, other) => span(one) - span(other))) {
    const rows = span(route);
    if (rows < 1 || rows > longestSpan || (rows > 1 && budget < rows)) {
      route.way = 1;
      continue;
    }
    const [first, last] = route.stops;
    const start = level.rowOf[first] + 1;
    const bends = Array.from({ length: rows - 1 }, (_, i) => addBend(level, start + i));
    route.stops = [first, ...bends, last];
    budget -= rows - 1;
  }
  assignLanes(level);
}

function addBend(level, row) {
  const item = level.kinds.push(BEND) - 1;
  level.things.push(-1);
  level.rowOf.push(row);
  level.rows[row].push(item);
  return item;
}

// --- the order in each row, with few crossings ---------------------------------------------------

/** Order the items of every row of a level. */
function orderRows(level) {
  const segments = segmentsOf(level).map(({ route, upper, lower, isFirst, isLast }) => ({
    upper, lower, leaves: isFirst ? route.tail : 0, arrives: isLast ? route.head : 0,
  }));
  const above = level.kinds.map(() => []);
  const below = level.kinds.map(() => []);
  for (const segment of segments) {
    above[segment.lower].push(segment);
    below[segment.upper].push(segment);
  }
  const { orderRounds, manyItems } = LAYOUT.ladder;
  const isLarge = level.kinds.length > manyItems;
  const place = [];
  for (const row of level.rows) numberRow(row, place);
  let best = level.rows.map((row) => [...row]);
  let fewest = isLarge ? Infinity : crossingsOf(level, segments, place);
  for (let round = 0; round < (isLarge ? 2 : orderRounds) && fewest; round++) {
    for (const row of level.rows.slice(1)) sortRow(row, above, place, true);
    for (const row of level.rows.slice(0, -1).reverse()) sortRow(row, below, place, false);
    const crossings = isLarge ? Infinity : crossingsOf(level, segments, place);
    if (crossings < fewest || isLarge) {
      best = level.rows.map((row) => [...row]);
      fewest = crossings;
    }
  }
  level.rows = best;
  findNeighbours(level);
}

/** Number the items of a row, counted from its middle. */
function numberRow(row, place) {
  row.forEach((item, number) => (place[item] = number - (row.length - 1) / 2));
}

/** Sort a row by the barycentres of its items; items without neighbours keep their position. */
function sortRow(row, near, place, isDownward) {
  if (row.length < 2) return;
  const { portShare } = LAYOUT.ladder;
  const keys = new Map();
  for (const item of row) {
    let total = 0;
    for (const { upper, lower, leaves, arrives } of near[item]) {
      const [other, port, own] = isDownward ? [upper, leaves, arrives] : [lower, arrives, leaves];
      total += place[other] + portShare * (port - own);
    }
    keys.set(item, near[item].length ? total / near[item].length : place[item]);
  }
  row.sort((one, other) => keys.get(one) - keys.get(other));
  numberRow(row, place);
}

function crossingsOf(level, segments, place) {
  const { portShare } = LAYOUT.ladder;
  const gaps = level.rows.map(() => []);
  for (const { upper, lower, leaves, arrives } of segments) {
    const ends = [place[upper] + portShare * leaves, place[lower] + portShare * arrives];
    gaps[level.rowOf[upper]].push(ends);
  }
  return gaps.reduce((sum, pairs) => sum + inversionsOf(pairs), 0);
}

/** Return the number of inversions: pairs ordered differently by their first and second. */
function inversionsOf(pairs) {
  pairs.sort((one, other) => one[0] - other[0] || one[1] - other[1]);
  const ends = [...new Set(pairs.map(([, end]) => end))].sort((one, other) => one - other);
  const ranks = new Map(ends.map((end, rank) => [end, rank + 1]));
  const tree = Array(ends.length + 1).fill(0); // a Fenwick tree: the number of ends at each rank
  let found = 0;
  pairs.forEach(([, end], seen) => {
    let atMost = 0;
    for (let i = ranks.get(end); i; i &= i - 1) atMost += tree[i];
    found += seen - atMost;
    for (let i = ranks.get(end); i < tree.length; i += i & -i) tree[i] += 1;
  });
  return found;
}

/** Mark routes between neighbouring boxes as straight, so that they do not use a lane. */
function findNeighbours(level) {
  const pairOf = (one, other) => [one, other].sort((a, b) => a - b).join(" ");
  const beside = new Set();
  for (const row of level.rows) {
    for (let i = 1; i < row.length; i++) beside.add(pairOf(row[i - 1], row[i]));
  }
  for (const route of level.routes) {
    const ends = [route.stops[0], route.stops[route.stops.length - 1]];
    const isPlain = ends.every((item) => level.kinds[item] === BOX);
    if (route.lane < 0 || !isPlain || !beside.delete(pairOf(...ends))) continue;
    route.isBeside = true;
    route.lane = -1;
  }
}
