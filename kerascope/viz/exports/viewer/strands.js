// Strands: items straight below each other, which move together. Port of places.py.

/** Return the middles of all items, moved so that strands are straight. */
function straighten(level, ties, spaces, middle) {
  const { strandOf, offset, count } = strandsOf(level, ...straightTies(level, ties));
  const bounds = boundsOf(level, spaces, strandOf, offset, count);
  const order = orderFromLeft(bounds);
  const members = Array(count).fill(0);
  let wanted = Array(count).fill(0);
  strandOf.forEach((strand, item) => {
    wanted[strand] += middle[item] - offset[item];
    members[strand] += 1;
  });
  wanted = wanted.map((total, strand) => total / members[strand]);
  let place = pushed(wanted, bounds, order);
  for (let round = 0; round < LAYOUT.strandRounds; round++) {
    place = pushed(wantedByTies(ties, strandOf, offset, place), bounds, order);
  }
  return strandOf.map((strand, item) => place[strand] + offset[item]);
}

// --- the straight pieces -------------------------------------------------------------------------

/**
 * Return the ties to be made straight, which never cross, and the items with side inputs (weights
 * and constants).
 */
function straightTies(level, ties) {
  const below = new Map();
  const above = new Map();
  const put = (map, key, value) => {
    if (!map.has(key)) map.set(key, []);
    map.get(key).push(value);
  };
  for (const { upper, lower } of ties) {
    put(below, upper, lower);
    put(above, lower, upper);
  }
  const main = new Map();
  const haveSides = new Set();
  for (const [lower, uppers] of above) {
    main.set(lower, mainInputs(uppers, above, level.kinds));
    if (main.get(lower).length < uppers.length) haveSides.add(lower);
  }
  const gaps = level.rows.map(() => []);
  for (const tie of ties) {
    const leads = isMain(tie.lower, below.get(tie.upper), level.kinds);
    const uppers = main.get(tie.lower);
    if (leads && uppers.includes(tie.upper) && isMain(tie.upper, uppers, level.kinds)) {
      gaps[level.rowOf[tie.upper]].push(tie);
    }
  }
  const number = [];
  level.rows.forEach((row) => row.forEach((item, i) => (number[item] = i)));
  return [gaps.flatMap((gap) => withoutCrossings(gap, number, level.kinds)), haveSides];
}

/** Return the inputs of an item without its side inputs, such as weights and constants. */
function mainInputs(uppers, above, kinds) {
  const main = uppers.filter((upper) => kinds[upper] !== BOX || above.has(upper));
  return main.length ? main : uppers;
}

/** Return whether an item is the only neighbour, or the only box next to one passing arrow. */
function isMain(item, others, kinds) {
  if (others.length === 1) return true;
  const boxes = others.filter((other) => kinds[other] !== BEND);
  return others.length === 2 && boxes.length === 1 && boxes[0] === item;
}

function withoutCrossings(gap, number, kinds) {
  const kept = [];
  const cross = (one, other) =>
    one.upper === other.upper || number[other.lower] <= number[one.lower];
  const rank = ({ upper, lower }) => (kinds[upper] === BEND) + (kinds[lower] === BEND);
  const last = () => kept[kept.length - 1];
  const byPlace = (one, other) =>
    number[one.upper] - number[other.upper] || number[one.lower] - number[other.lower];
  for (const tie of [...gap].sort(byPlace)) {
    while (kept.length && cross(last(), tie) && rank(tie) > rank(last())) kept.pop();
    if (!kept.length || !cross(last(), tie)) kept.push(tie);
  }
  return kept;
}

/** Return the strand of each item, and the item's offset from the position of its strand. */
function strandsOf(level, straight, haveSides) {
  const upperOf = new Map(straight.map((tie) => [tie.lower, tie]));
  const strandOf = level.kinds.map(() => -1);
  const offset = level.kinds.map(() => 0);
  let count = 0;
  for (const row of level.rows) {
    for (const item of row) {
      const tie = upperOf.get(item);
      strandOf[item] = tie ? strandOf[tie.upper] : count++;
      if (tie) {
        const areBoxes = level.kinds[tie.upper] === BOX && level.kinds[item] === BOX;
        const isBelow = areBoxes || haveSides.has(item);
        offset[item] = offset[tie.upper] + (isBelow ? 0 : tie.shift);
      }
    }
  }
  return { strandOf, offset, count };
}

// --- positions of strands ------------------------------------------------------------------------

/** Return for each strand the strands to its right, with their least distances. */
function boundsOf(level, spaces, strandOf, offset, count) {
  const least = Array.from({ length: count }, () => new Map());
  level.rows.forEach((row, number) => {
    for (let i = 1; i < row.length; i++) {
      const [left, right] = [row[i - 1], row[i]];
      const distance = spaces[number][i] + offset[left] - offset[right];
      const bounds = least[strandOf[left]];
      const before = bounds.get(strandOf[right]);
      bounds.set(strandOf[right], before === undefined ? distance : Math.max(before, distance));
    }
  });
  return least.map((bounds) => [...bounds]);
}

/** Return the strands in topological order, from left to right. */
function orderFromLeft(bounds) {
  const waiting = bounds.map(() => 0);
  for (const strand of bounds) for (const [other] of strand) waiting[other] += 1;
  const ready = [...waiting.keys()].filter((strand) => !waiting[strand]);
  const order = [];
  while (ready.length) {
    const strand = ready.pop();
    order.push(strand);
    for (const [other] of bounds[strand]) if (!--waiting[other]) ready.push(other);
  }
  return order;
}

/** Return positions near the wanted ones that keep all least distances. */
function pushed(wanted, bounds, order) {
  const fromLeft = [...wanted];
  for (const strand of order) {
    for (const [other, distance] of bounds[strand]) {
      fromLeft[other] = Math.max(fromLeft[other], fromLeft[strand] + distance);
    }
  }
  const fromRight = [...wanted];
  for (let i = order.length - 1; i >= 0; i--) {
    for (const [other, distance] of bounds[order[i]]) {
      fromRight[order[i]] = Math.min(fromRight[order[i]], fromRight[other] - distance);
    }
  }
  return fromLeft.map((one, strand) => (one + fromRight[strand]) / 2);
}

/** Return the ideal position of each strand by its ties; a strand without ties stays. */
function wantedByTies(ties, strandOf, offset, place) {
  const total = place.map(() => 0);
  const weights = place.map(() => 0);
  for (const { upper, lower, shift, weight } of ties) {
    const [one, other] = [strandOf[upper], strandOf[lower]];
    if (one === other) continue;
    total[one] += weight * (place[other] + offset[lower] - shift - offset[upper]);
    weights[one] += weight;
    total[other] += weight * (place[one] + offset[upper] + shift - offset[lower]);
    weights[other] += weight;
  }
  return place.map((before, strand) =>
    weights[strand] ? (total[strand] / weights[strand] + before) / 2 : before,
  );
}
