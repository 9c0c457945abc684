// The visible graph while some groups are closed: its boxes, and the arrows between them.

const UPWARD_ROLES = ["gradient", "update"];

class Showing {
  /** The visible part of a graph; `closed` contains the indices of closed groups. */
  constructor(graph, closed) {
    this.graph = graph;
    this.cover = coverOf(graph, closed);
    this.arrows = new Map();
    this._drawArrows();
    this._spreadParallel();
  }

  /** Return whether the frame of a group is drawn. */
  isOpen(group) {
    return this.cover[group] < 0;
  }

  /** Return the number of the box drawn for a box: the box itself, or a closed group. */
  boxFor(number) {
    const { boxes, count } = this.graph;
    const group = number < count ? boxes[number].parent : number - count;
    const around = number < count || group < 0 ? group : this.graph.groups[group].parent;
    const cover = around >= 0 ? this.cover[around] : -1;
    return cover < 0 ? number : count + cover;
  }

  /** Return the numbers of all visible boxes. */
  boxes() {
    return this.graph.boxes
      .map((box) => box.number)
      .filter((number) => this.boxFor(number) === number && !this._isFrame(number));
  }

  _isFrame(number) {
    return number >= this.graph.count && this.isOpen(number - this.graph.count);
  }

  _drawArrows() {
    const seen = new Set();
    for (const edge of this.graph.edges) {
      const [source, target] = [this.boxFor(edge.source), this.boxFor(edge.target)];
      const isHidden = source !== edge.source || target !== edge.target;
      if (isHidden && source === target) continue;
      if (this._isInnerUse(edge, source, target)) continue;
      const arrow = { edge, source, target, ...endsOf(this.graph, edge, source, target) };
      if (target !== edge.target || (source !== edge.source && this._isBundle(source))) {
        const { role = "", operand_of: operand } = edge.attributes;
        const key = [source, target, arrow.ports, role, Boolean(operand)].join(" ");
        if (seen.has(key)) continue;
        seen.add(key);
      }
      this.arrows.set(edge.number, arrow);
    }
  }

  /** Return whether all arrows between a closed group and another box are drawn as one. */
  _isBundle(number) {
    return this.graph.groups[number - this.graph.count].isBundle;
  }

  /** Return whether an arrow runs from a tensor in a closed frame into another closed call. */
  _isInnerUse(edge, source, target) {
    if (source === edge.source || target === edge.target) return false;
    const { boxes, groups, count } = this.graph;
    const isTensor = boxes[edge.source].style.kind === "tensor";
    const endsInside = boxes[edge.target].style.kind !== "input";
    return isTensor && endsInside && groups[target - count].isCall;
  }

  /** Separate the ends of arrows between the same two boxes. */
  _spreadParallel() {
    const parallel = new Map();
    for (const arrow of this.arrows.values()) {
      const pair = `${arrow.source} ${arrow.target}`;
      if (!parallel.has(pair)) parallel.set(pair, []);
      parallel.get(pair).push(arrow);
    }
    for (const arrows of parallel.values()) {
      if (arrows.length < 2) continue;
      arrows.forEach((arrow, place) => {
        if (arrow.isUpward || arrow.tail || arrow.head) return;
        arrow.tail = arrow.head = ((place + 0.5) / arrows.length) * 0.6 - 0.3;
      });
    }
  }
}

/** Return for each group the outermost closed group that hides it; -1 if none does. */
function coverOf(graph, closed) {
  const cover = [];
  for (const { index, parent } of graph.groups) {
    const outer = parent >= 0 ? cover[parent] : -1;
    cover.push(outer >= 0 ? outer : closed.has(index) ? index : -1);
  }
  return cover;
}

/** Return the positions of an arrow on its source and target, from -0.5 to 0.5. */
function endsOf(graph, edge, source, target) {
  const isUpward = UPWARD_ROLES.includes(edge.attributes.role);
  const output = portOf(edge, "tail", source, "output");
  const operand = portOf(edge, "head", target, "operand");
  const ports = `${output} ${operand}`;
  const [from, to] = [graph.boxes[source], graph.boxes[target]];
  if (isUpward) return { isUpward, ports, tail: upwardPlace(from), head: upwardPlace(to) };
  const tail = placeOfPort(output, from.attributes.output_count);
  const head = placeOfPort(operand, to.attributes.input_count);
  return { isUpward, ports, tail, head };
}

/** Return the port of an arrow at the drawn box; -1 for none. */
function portOf(edge, end, drawn, key) {
  const own = end === "tail" ? edge.source : edge.target;
  const port = drawn === own ? edge.attributes[key] : edge.ports[end][drawn];
  return port === undefined ? -1 : port;
}

function placeOfPort(port, count = 1) {
  if (port < 0 || count < 2) return 0;
  return (Math.min(port, count - 1) + 0.5) / count - 0.5;
}

function upwardPlace(box) {
  return ["gradient", "sum", "update"].includes(box.style.kind) ? 0 : 0.25;
}
