// Levels with some frames closed: a closed frame is a box, and its contents are hidden.
//
// Python orders the rows of every level once, with all frames open. This code only leaves out
// items, so opening and closing never changes an order.

const BOX = "b";
const FRAME = "f";
const ENTRY = "e";
const EXIT = "x";
const BEND = "d";
const TITLE = "t";

/** Return the visible part of a level. */
function shownLevel(stored, showing) {
  const { graph, arrows } = showing;
  const routes = stored.routes.filter((route) => arrows.has(route.edge));
  const bends = new Set(routes.flatMap((route) => route.stops));
  const isKept = (item) => {
    const kind = stored.kinds[item];
    if (kind === ENTRY || kind === EXIT) return arrows.has(stored.things[item]);
    return kind !== BEND || bends.has(item);
  };
  const level = { group: stored.group, kinds: [], things: [], rowOf: [], depths: stored.depths };
  const numbers = new Map();
  stored.kinds.forEach((kind, item) => {
    if (!isKept(item)) return;
    const thing = stored.things[item];
    const isClosed = kind === FRAME && !showing.isOpen(thing - graph.count);
    numbers.set(item, level.kinds.length);
    level.kinds.push(isClosed ? BOX : kind);
    level.things.push(thing);
    level.rowOf.push(0);
  });
  level.rows = stored.rows.map((row) => row.filter(isKept).map((item) => numbers.get(item)));
  level.rows.forEach((row, place) => row.forEach((item) => (level.rowOf[item] = place)));
  level.routes = routes.map((route) => shownRoute(route, numbers, level, arrows));
  assignLanes(level);
  return level;
}

function shownRoute(route, numbers, level, arrows) {
  const arrow = arrows.get(route.edge);
  const stops = route.stops.map((item) => numbers.get(item));
  const [first, last] = [stops[0], stops[stops.length - 1]];
  const ends = route.turned ? [arrow.target, arrow.source] : [arrow.source, arrow.target];
  const [tail, head] = route.turned ? [arrow.head, arrow.tail] : [arrow.tail, arrow.head];
  const isEnd = (item, box) => level.kinds[item] === BOX && level.things[item] === box;
  return {
    ...route,
    stops,
    tail: isEnd(first, ends[0]) ? tail : 0,
    head: isEnd(last, ends[1]) ? head : 0,
    lane: -1,
    isBeside: route.way === 2,
  };
}

/** Assign the nearest lane that is free in all its rows to each route that needs one. */
function assignLanes(level) {
  const rowsOf = ({ stops }) => [level.rowOf[stops[0]], level.rowOf[stops[stops.length - 1]]];
  const span = (route) => rowsOf(route)[1] - rowsOf(route)[0];
  const waiting = level.routes.filter((route) => route.way !== 0);
  waiting.sort((one, other) => span(one) - span(other));
  waiting.sort((one, other) => Math.abs(span(one)) - Math.abs(span(other)));
  const taken = [];
  for (const route of waiting) {
    const [start, end] = rowsOf(route).sort((one, other) => one - other);
    const isFree = (lane) => lane.every(([from, to]) => to < start || end < from);
    let lane = taken.findIndex(isFree);
    if (lane < 0) lane = taken.push([]) - 1;
    taken[lane].push([start, end]);
    if (!route.isBeside) route.lane = lane;
  }
}

/** Return the pieces of all routes from row to row, without those in lanes or in one row. */
function segmentsOf(level) {
  const found = [];
  for (const route of level.routes) {
    if (route.lane >= 0 || route.isBeside) continue;
    const last = route.stops.length - 2;
    for (let i = 0; i <= last; i++) {
      found.push({
        route,
        upper: route.stops[i],
        lower: route.stops[i + 1],
        isFirst: i === 0,
        isLast: i === last,
      });
    }
  }
  return found;
}
