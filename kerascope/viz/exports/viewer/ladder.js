// The layout of a ladder: two rails and the cards between them. Port of layout/ladder.py.

class Ladder {
  /** Computes the positions of all parts of a ladder. */
  constructor(showing) {
    this.showing = showing;
    this.graph = showing.graph;
    this.numbers = [...new Set(this.graph.boxes.slice(0, this.graph.count)
      .map((box) => showing.boxFor(box.number)))];
    this.kind = new Map(this.numbers.map((number) => [number, this._partOf(number)]));
    this.cards = this._cards();
    this.columns = this._columns();
    this.cardWidth = this._cardWidth();
    this.depths = this._depths();
    this.forward = this._rail("forward");
    this.backward = this._rail("backward");
    this.boxes = new Map();
    this.frames = new Map();
    this.gutters = { left: LAYOUT.ladder.gutter, right: LAYOUT.ladder.gutter };
    const norms = this.backward.level.things.filter((thing) => thing >= 0)
      .map((thing) => Number(this.attributes(thing).gradient_norm || 0));
    this.greatest = Math.max(0, ...norms.filter(Number.isFinite));
  }

  attributes(number) {
    return this.graph.boxes[number].attributes;
  }

  size(number) {
    return sizeOf(this.graph.boxes[number], false);
  }

  /** Return the place of a box: "cell" or "card", or "forward", "backward" or "loss". */
  _partOf(number) {
    const { style, attributes } = this.graph.boxes[number];
    if (attributes.line !== undefined) return "cell";
    return style.kind === "card" ? "card" : attributes.rail || "forward";
  }

  /** Return the card that contains or is the box; -1 if there is none. */
  cardAt(number) {
    const kind = this.kind.get(number);
    if (kind === "cell") return this.graph.count + this.graph.boxes[number].parent;
    return kind === "card" ? number : -1;
  }

  // --- the parts ---------------------------------------------------------------------------------

  /** Return the open cards, and then the closed ones. */
  _cards() {
    const lines = new Map();
    for (const number of this.numbers) {
      if (this.kind.get(number) !== "cell") continue;
      const card = this.cardAt(number);
      if (!lines.has(card)) lines.set(card, new Map());
      const { line } = this.attributes(number);
      if (!lines.get(card).has(line)) lines.get(card).set(line, []);
      lines.get(card).get(line).push(number);
    }
    const cards = new Map();
    const add = (id, own) => cards.set(id, { id, lines: own, calls: [] });
    for (const { number } of this.graph.groups) {
      if (lines.has(number)) add(number, [...lines.get(number).values()]);
    }
    for (const [number, kind] of this.kind) if (kind === "card") add(number, []);
    for (const { source, target } of this.showing.arrows.values()) {
      const card = cards.get(this.cardAt(source));
      const reads = card && this.kind.get(target) === "forward";
      if (reads && !card.calls.includes(target)) card.calls.push(target);
    }
    return cards;
  }

  /** Return the depth of each box on a rail: its call's longest path to a last call. */
  _depths() {
    const calls = this.numbers.filter((number) => this.kind.get(number) === "forward");
    const isCall = (number) => this.kind.get(number) === "forward";
    const pairs = [...this.showing.arrows.values()]
      .filter(({ source, target }) => isCall(source) && isCall(target))
      .map(({ source, target }) => [source, target]);
    const depths = longestPaths(calls, pairs);
    this.numberOf = new Map(this.numbers.map((number) => [this.graph.boxes[number].id, number]));
    for (const [number, kind] of this.kind) {
      if (kind === "backward") depths.set(number, depths.get(this.homeOf(number)) || 0);
    }
    return depths;
  }

  /** Return the call whose gradient a box is; -1 if it is not visible. */
  homeOf(number) {
    const home = this.numberOf.get(this.attributes(number).beside || "");
    return home === undefined ? -1 : home;
  }

  /** Return a rail with its layout; arrows of gradients are reversed, so that they go down. */
  _rail(kind) {
    const arrows = [...this.showing.arrows.values()].filter(
      ({ source, target }) => this.kind.get(source) === kind && this.kind.get(target) === kind,
    );
    const own = kind === "forward"
      ? arrows.map(({ edge, source, target, tail, head }) =>
        ({ edge: edge.number, upper: source, lower: target, tail, head }))
      : this._arriving(arrows);
    const numbers = this.numbers.filter((number) => this.kind.get(number) === kind);
    const level = railLevel(numbers, this.depths, own);
    const shapes = level.things.map((thing) => {
      const { width, height } = thing < 0 ? { width: 4, height: 0 } : this.size(thing);
      return { across: width, along: height, doors: new Map() };
    });
    const none = { middle: [], lanes: [], across: 0 };
    const places = shapes.length ? placeLevel(level, shapes) : none;
    return { level, shapes, places, width: places.across };
  }

  /** Return the arrows between gradients from top to bottom, with their positions on boxes. */
  _arriving(arrows) {
    const count = new Map();
    const places = arrows.map(({ target }) => {
      count.set(target, (count.get(target) || 0) + 1);
      return count.get(target) - 1;
    });
    const drawn = new Map();
    const parallel = new Map();
    const pairOf = ({ source, target }) => `${source} ${target}`;
    for (const arrow of arrows) {
      parallel.set(pairOf(arrow), (parallel.get(pairOf(arrow)) || 0) + 1);
    }
    return arrows.map((arrow, i) => {
      const { edge, source, target } = arrow;
      let [tail, head] = [placeOfPort(places[i], count.get(target)), 0];
      const pair = pairOf(arrow);
      const place = drawn.get(pair) || 0;
      drawn.set(pair, place + 1);
      if (parallel.get(pair) > 1 && !tail) {
        tail = head = ((place + 0.5) / parallel.get(pair)) * 0.6 - 0.3;
      }
      return { edge: edge.number, upper: target, lower: source, tail, head };
    });
  }

  // --- cards: their columns and sizes ------------------------------------------------------------

  /** Return the columns of all cards with their widths, from left to right. */
  _columns() {
    const { leastCell, viasBeside } = LAYOUT.ladder;
    const widths = new Map();
    let vias = 0;
    for (const line of [...this.cards.values()].flatMap((card) => card.lines)) {
      const columns = line.map((number) => this.attributes(number).column);
      vias = Math.max(vias, columns.filter((column) => column === "via").length);
      line.forEach((number, i) => {
        if (this._isWritten(number)) return;
        const width = Math.max(widths.get(columns[i]) || leastCell, this.size(number).width);
        widths.set(columns[i], width);
      });
    }
    const known = ["weight", "via", "gradient", "new"];
    const slots = [...widths.keys()].filter((column) => !known.includes(column));
    const found = new Map();
    const add = (column, own = column) => {
      if (widths.has(own)) found.set(column, widths.get(own));
    };
    add("weight");
    for (let i = 0; i < Math.min(vias, viasBeside); i++) add(`via ${i}`, "via");
    for (const column of ["gradient", ...slots, "new"]) add(column);
    return found;
  }

  /** Return whether a box is the new value of a slot, which is a mark in the slot's cell. */
  _isWritten(number) {
    const { style, attributes } = this.graph.boxes[number];
    return style.kind === "update" && attributes.column !== "new";
  }

  _cardWidth() {
    const { cellGap, cardPadding, nameSize, leastBetween } = LAYOUT.ladder;
    const { lineSize } = LAYOUT;
    const inner = [...this.columns.values()].reduce((sum, width) => sum + width, 0)
      + cellGap * Math.max(0, this.columns.size - 1);
    const widths = [...this.cards.values()].map(({ id, lines }) => {
      if (!lines.length) return this.size(id).width;
      const { name, detail } = this.graph.groups[id - this.graph.count];
      return name.width(nameSize, true) + detail.width(lineSize) + 24;
    });
    const least = this.cards.size ? leastBetween : 60;
    return Math.max(inner ? inner + 2 * cardPadding : 0, ...widths, least);
  }

  _cardHeight({ id, lines }) {
    if (!lines.length) return this.size(id).height;
    const rows = lines.reduce((sum, line) => sum + this._rowsOf(line), 0);
    return LAYOUT.ladder.cardHead + rows * this._rowHeight() + 4;
  }

  _rowHeight() {
    return LAYOUT.ladder.cellHeight + 2 * LAYOUT.ladder.wire + 2;
  }

  _rowsOf(line) {
    const vias = line.filter((number) => this.attributes(number).column === "via").length;
    return Math.max(1, Math.ceil(vias / LAYOUT.ladder.viasBeside));
  }

  // --- rows --------------------------------------------------------------------------------------

  /** Compute the top and the height of each row and of its strips. */
  putRows() {
    const { header, stripGap, rowGap } = LAYOUT.ladder;
    this._dealStrips();
    const cards = [...this.cards.values()];
    const rungs = new Set(cards.flatMap((card) => card.calls));
    let y = LAYOUT.margin + this.graph.captionSize[1] + header;
    this.tops = new Map();
    this.bottoms = new Map();
    for (const depth of [...this.strips.keys()].sort((one, other) => other - one)) {
      let strips = this.strips.get(depth);
      if (!strips.some(({ calls }) => [...calls.keys()].some((call) => rungs.has(call)))) {
        strips = [this._joined(strips)];
        this.strips.set(depth, strips);
      }
      this.tops.set(depth, y);
      for (const strip of strips) {
        strip.top = y;
        strip.height = this._height(strip);
        y += strip.height + stripGap;
      }
      y -= strips.length ? stripGap : 0;
      this.bottoms.set(depth, y);
      y += rowGap + this._swing(depth);
    }
    this.rowsEnd = y - rowGap;
  }

  /** Assign calls, with their gradients and cards, to strips, and strips to rows. */
  _dealStrips() {
    const newStrip = () => ({ calls: new Map(), cards: [], isFlat: false });
    this.strips = new Map();
    const spare = newStrip();
    const stripOf = new Map([[-1, spare]]);
    for (const card of this.cards.values()) {
      const calls = this._anchors(card);
      const known = calls.find((call) => stripOf.has(call));
      const strip = known === undefined ? newStrip() : stripOf.get(known);
      (calls.length ? strip : spare).cards.push(card.id);
      for (const call of calls) if (!stripOf.has(call)) stripOf.set(call, strip);
    }
    const { level } = this.forward;
    for (const item of level.rows.flat()) {
      if (level.kinds[item] !== BOX) continue;
      const call = level.things[item];
      if (!stripOf.has(call)) stripOf.set(call, newStrip());
      const strip = stripOf.get(call);
      strip.calls.set(call, []);
      const depth = this.depths.get(call);
      if (!this.strips.has(depth)) this.strips.set(depth, []);
      if (!this.strips.get(depth).includes(strip)) this.strips.get(depth).push(strip);
    }
    for (const [number, kind] of this.kind) {
      if (kind !== "backward") continue;
      const home = this.homeOf(number);
      const { calls } = stripOf.get(home) || spare;
      if (!calls.has(home)) calls.set(home, []);
      calls.get(home).push(number);
    }
    if (spare.cards.length || spare.calls.size) {
      const last = this.strips.size ? Math.min(...this.strips.keys()) : 0;
      if (!this.strips.has(last)) this.strips.set(last, []);
      this.strips.get(last).push(spare);
    }
  }

  /** Return the calls in the row of a card: its first call and others in that row. */
  _anchors({ calls }) {
    const deepest = Math.max(0, ...calls.map((call) => this.depths.get(call)));
    return calls.filter((call) => this.depths.get(call) === deepest);
  }

  _joined(strips) {
    const calls = new Map(strips.flatMap((strip) => [...strip.calls]));
    return { calls, cards: strips.flatMap((strip) => strip.cards), isFlat: true };
  }

  /** Return the total height of boxes below each other. */
  _stacked(heights) {
    const sum = heights.reduce((total, height) => total + height, 0);
    return sum + LAYOUT.ladder.stripGap * (heights.length - 1);
  }

  /** Return the height that a call needs, with its gradients below each other. */
  _heightOf(strip, call) {
    const own = strip.calls.get(call).map((number) => this.size(number).height);
    const height = call >= 0 ? this.size(call).height : 0;
    return strip.isFlat ? Math.max(height, ...own) : Math.max(height, this._stacked(own));
  }

  _height(strip) {
    const needed = [...strip.calls.keys()].map((call) => this._heightOf(strip, call));
    const cards = strip.cards.map((id) => this._cardHeight(this.cards.get(id)));
    const calls = strip.isFlat ? Math.max(0, ...needed) : this._stacked(needed);
    return Math.max(calls, this._stacked(cards));
  }

  /** Return the additional space below a row for lines that run far across. */
  _swing(depth) {
    let most = 0;
    for (const { level, places } of [this.forward, this.backward]) {
      for (const { stops } of level.routes) {
        for (let i = 1; i < stops.length; i++) {
          if (level.depths[level.rowOf[stops[i - 1]]] !== depth) continue;
          most = Math.max(most, Math.abs(places.middle[stops[i - 1]] - places.middle[stops[i]]));
        }
      }
    }
    return Math.min(0.07 * most, 36);
  }
}
