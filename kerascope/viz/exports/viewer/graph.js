// The graph of the page: boxes, frames and arrows, read from the compact data that Python wrote.
//
// Boxes have numbers: first the boxes of the graph, then one number for each group. The number of a
// group means its frame while it is open, and its closed box while it is closed.

/** Sizes and distances of the layout, the same numbers that Python uses. */
let LAYOUT = {};

class Words {
  /** A text and its width, in thousandths of the font size. */
  constructor(text, units) {
    this.text = text;
    this.units = units;
  }

  width(size, bold = false) {
    const scale = (bold ? LAYOUT.bold : 1) * LAYOUT.slack;
    return Math.round((this.units * size * scale) / 100) / 10;
  }
}

function readGraph(data) {
  LAYOUT = data.layout;
  const words = (index) => new Words(data.strings[index], data.units[index] || 0);
  const attributes = data.attributes.map((pairs) => readAttributes(pairs, data.strings));
  const count = data.boxes.length - data.groups.length;
  const boxes = data.boxes.map((row, number) => readBox(row, number, data, words, attributes));
  const groups = data.groups.map(([name, detail, width, height, isCall, isBundle], index) => ({
    index,
    number: count + index,
    parent: boxes[count + index].parent,
    name: words(name),
    detail: words(detail),
    size: [width, height],
    isCall: Boolean(isCall),
    isBundle: Boolean(isBundle),
    family: [index],
  }));
  const edges = data.edges.map(([source, target, which, label, tails, heads], number) => ({
    number,
    source,
    target,
    attributes: attributes[which],
    label: words(label),
    ports: { tail: portsByBox(tails, count), head: portsByBox(heads, count) },
  }));
  for (const family of data.families) for (const index of family) groups[index].family = family;
  for (const edge of edges) {
    boxes[edge.source].outgoing.push(edge);
    boxes[edge.target].incoming.push(edge);
  }
  const levels = data.levels.map(readLevel);
  const measured = new Map(data.measured.map((index) => [data.strings[index], words(index)]));
  const lines = data.caption.map(words);
  return { ...data, count, boxes, groups, edges, levels, measured, lines };
}

/** Return an arrow's port at each closed box around its end, from pairs of numbers. */
function portsByBox(pairs, count) {
  const found = {};
  if (!pairs) return found;
  for (let i = 0; i < pairs.length; i += 2) found[count + pairs[i]] = pairs[i + 1];
  return found;
}

function readAttributes(pairs, strings) {
  const found = {};
  for (let i = 0; i < pairs.length; i += 2) {
    const value = pairs[i + 1];
    found[strings[pairs[i]]] = Array.isArray(value) ? value[0] : strings[value];
  }
  return found;
}

function readBox(row, number, data, words, attributes) {
  const [id, title, label, kind, parent, depth, text, size, which] = row;
  const [name, sign, corners, frames] = data.kinds[kind];
  const [lines = [], marks = [], inputs = [], outputs = []] = data.texts[text];
  return {
    number,
    id: data.strings[id],
    label: data.strings[label],
    parent,
    depth,
    style: { kind: name, corners, frames },
    sign: words(sign),
    title: words(title),
    lines: lines.map(words),
    marks: marks.map(words),
    cells: { inputs: inputs.map(words), outputs: outputs.map(words) },
    size: data.sizes[size],
    attributes: attributes[which],
    incoming: [],
    outgoing: [],
  };
}

function readLevel([group, kinds, things, rows, depths, routes]) {
  return {
    group,
    kinds: [...kinds],
    things,
    rows,
    depths,
    routes: routes.map(([edge, way, place, turned, ...stops]) => ({
      edge,
      way, // 0: from row to row, 1: in a lane, 2: straight to the neighbouring item
      place,
      turned: Boolean(turned),
      stops,
    })),
  };
}

/** Return the groups around a box, innermost first. */
function groupsAround(graph, number) {
  const found = [];
  let group = graph.boxes[number].parent;
  while (group >= 0) {
    found.push(group);
    group = graph.groups[group].parent;
  }
  return found;
}
