// The positions of boxes, cards and losses of a ladder. Port of layout/ladder.py.

/** Return the layout of the visible part of a ladder, which runs from top to bottom. */
function arrangeLadder(showing) {
  const ladder = new PlacedLadder(showing);
  ladder.putRows();
  ladder.draw(); // the first time, to count the lanes that the gutters need
  ladder.widenGutters();
  ladder.draw();
  return ladder.result();
}

/** Return a label with a text that Python has measured. */
function measured(graph, text) {
  return graph.measured.get(text) || new Words(text, 600 * text.length);
}

class PlacedLadder extends Ladder {
  /** Make the gutters as wide as their lanes need. */
  widenGutters() {
    const { gutter, lane } = LAYOUT.ladder;
    const { left, right } = this.lines.taken;
    this.gutters = { left: gutter + lane * left.length, right: gutter + lane * right.length };
  }

  /** Compute the positions of all boxes, then those of all lines. */
  draw() {
    const { headSize, forwardHead } = LAYOUT.ladder;
    const width = (text) => this._words(text).width(LAYOUT.depthSize);
    const strips = [...this.strips.keys()].map((depth) => width(`depth ${depth}`));
    const below = this._below().filter((number) => this._isTarget(number));
    const heading = this._words(forwardHead).width(headSize, true);
    const widths = below.map((number) => this.size(number).width);
    this.left = LAYOUT.margin + (this.graph.depthRanks ? Math.max(0, ...strips) + 16 : 0);
    this.railWidth = Math.max(this.forward.width, ...widths, heading);
    this.cardX = this.left + this.railWidth + this.gutters.left;
    this.cardEnd = this.cardX + this.cardWidth;
    this.lossX = this.cardX + 12;
    this._putLosses();
    this.rightX = Math.max(this.cardEnd, this.lossesEnd) + this.gutters.right;
    this._putRail(this.forward, this.left + (this.railWidth - this.forward.width) / 2);
    this._putRail(this.backward, this.rightX);
    for (const strip of [...this.strips.values()].flat()) this._putStrip(strip);
    this.lines = new LadderLines(this);
    this.lines.draw();
  }

  _words(text) {
    return measured(this.graph, text);
  }

  _putRail({ level, shapes, places }, x) {
    level.things.forEach((number, item) => {
      if (level.kinds[item] !== BOX) return;
      const { across, along } = shapes[item];
      const left = x + places.middle[item] - across / 2;
      this.boxes.set(number, { x: left, y: 0, width: across, height: along });
    });
  }

  _putStrip(strip) {
    const { stripGap } = LAYOUT.ladder;
    const middle = strip.top + strip.height / 2;
    const needed = new Map();
    for (const call of strip.calls.keys()) needed.set(call, this._heightOf(strip, call));
    const total = this._stacked([...needed.values()]);
    const spread = total < strip.height ? (strip.height - total) / (needed.size + 1) : 0;
    let y = strip.top + spread;
    for (const [call, gradients] of strip.calls) {
      const centre = strip.isFlat ? middle : y + needed.get(call) / 2;
      if (this.boxes.has(call)) this._centre(call, centre);
      const heights = gradients.map((number) => this.size(number).height);
      let top = centre - this._stacked(heights) / 2;
      gradients.forEach((number, i) => {
        this._centre(number, strip.isFlat ? centre : top + heights[i] / 2);
        top += heights[i] + stripGap;
      });
      y += needed.get(call) + stripGap + spread;
    }
    const heights = strip.cards.map((id) => this._cardHeight(this.cards.get(id)));
    y = middle - this._stacked(heights) / 2;
    strip.cards.forEach((id, i) => {
      const rect = { x: this.cardX, y, width: this.cardWidth, height: heights[i] };
      this._putCard(this.cards.get(id), rect);
      y += heights[i] + stripGap;
    });
  }

  _centre(number, y) {
    const rect = this.boxes.get(number);
    this.boxes.set(number, { ...rect, y: y - rect.height / 2 });
  }

  _putCard(card, rect) {
    if (!card.lines.length) {
      this.boxes.set(card.id, rect);
      return;
    }
    const { cardPadding, cellGap, cardHead } = LAYOUT.ladder;
    this.frames.set(card.id, rect);
    const starts = new Map();
    let x = rect.x + cardPadding;
    for (const [column, width] of this.columns) {
      starts.set(column, x);
      x += width + cellGap;
    }
    let y = rect.y + cardHead;
    for (const line of card.lines) {
      this._putLine(line, starts, y);
      y += this._rowsOf(line) * this._rowHeight();
    }
  }

  _putLine(line, starts, y) {
    const { viasBeside, wire, cellHeight, markWidth } = LAYOUT.ladder;
    let vias = 0;
    for (const number of line) {
      let [{ column }, row] = [this.attributes(number), 0];
      if (column === "via") {
        row = Math.floor(vias / viasBeside);
        column = `via ${vias++ % viasBeside}`;
      }
      const top = y + wire + row * this._rowHeight();
      const [left, width] = [starts.get(column), this.columns.get(column)];
      const rect = this._isWritten(number)
        ? { x: left + width - markWidth - 4, y: top + 5, width: markWidth, height: cellHeight - 10 }
        : { x: left, y: top, width, height: cellHeight };
      this.boxes.set(number, rect);
    }
  }

  // --- losses ------------------------------------------------------------------------------------

  _below() {
    return this.numbers.filter((number) => this.kind.get(number) === "loss");
  }

  _isTarget(number) {
    return this.graph.boxes[number].style.kind !== "loss";
  }

  /** Place the targets below the left rail, and the losses below the cards. */
  _putLosses() {
    const { stripGap } = LAYOUT.ladder;
    const below = this._below();
    const isLoss = (number) => this.kind.get(number) === "loss";
    const arrows = [...this.showing.arrows.values()]
      .filter(({ source, target }) => isLoss(source) && isLoss(target));
    const targetOf = new Map(arrows.filter(({ source }) => this._isTarget(source))
      .map(({ source, target }) => [target, source]));
    const losses = below.filter((number) => !this._isTarget(number));
    const inner = new Set(arrows.map(({ source }) => source));
    this.total = losses.findLast((number) => !inner.has(number)) ?? -1;
    const terms = losses.filter((number) => number !== this.total);
    const placed = new Set();
    this.lossTop = this.rowsEnd + 12;
    let [y, widest] = [this.lossTop, 0];
    const put = (number, x, top) => {
      this.boxes.set(number, { x, y: top, width: this.size(number).width,
        height: this.size(number).height });
      placed.add(number);
    };
    const onRail = (number) => this.left + (this.railWidth - this.size(number).width) / 2;
    for (const term of terms.length ? terms : losses.slice(-1)) {
      const own = [term, targetOf.get(term)].filter((number) => number !== undefined);
      const height = Math.max(...own.map((number) => this.size(number).height));
      for (const number of own.filter((one) => !placed.has(one))) {
        const x = number === term ? this.lossX : onRail(number);
        put(number, x, y + (height - this.size(number).height) / 2);
      }
      widest = Math.max(widest, this.size(term).width);
      y += height + stripGap;
    }
    for (const number of below) {
      if (placed.has(number) || number === this.total) continue;
      put(number, onRail(number), y);
      y += this.size(number).height + stripGap;
    }
    if (this.total >= 0 && !placed.has(this.total)) {
      const { width, height } = this.size(this.total);
      const x = Math.max(this.lossX + widest + 64, this.cardEnd - width - 12);
      put(this.total, x, (this.lossTop + y - stripGap) / 2 - height / 2);
    }
    this.end = y - stripGap;
    this.lossesEnd = this.total < 0 ? 0 : rightOf(this.boxes.get(this.total));
  }

  // --- the whole ---------------------------------------------------------------------------------

  /** Return the finished layout. */
  result() {
    const { headSize, backwardHead } = LAYOUT.ladder;
    const heading = this._words(backwardHead).width(headSize, true);
    const right = this.rightX + Math.max(this.backward.width, heading);
    const width = Math.max(right, this.left + this.graph.captionSize[0]) + LAYOUT.margin;
    const paths = new Map();
    for (const stroke of this.lines.strokes) {
      for (const number of stroke.edges) paths.set(number, stroke.points);
    }
    for (const [number, rect] of this._framesOnRails()) this.frames.set(number, rect);
    const depths = new Map();
    for (const [depth, top] of this.graph.depthRanks ? this.tops : []) {
      const height = this.bottoms.get(depth) - top;
      depths.set(depth, { x: LAYOUT.margin, y: top, width: this.left - LAYOUT.margin, height });
    }
    return {
      width, height: this.end + LAYOUT.margin, left: LAYOUT.margin, depths, paths,
      boxes: this.boxes, frames: this.frames, labels: new Map(),
      strokes: this.lines.strokes, words: [...this._heads(), ...this.lines.words],
    };
  }

  /** Return a frame around each open group of a rail that would contain no other box. */
  _framesOnRails() {
    const members = new Map();
    for (const [number, kind] of this.kind) {
      if (kind !== "forward" && kind !== "backward") continue;
      for (const group of groupsAround(this.graph, number)) {
        if (!members.has(group)) members.set(group, []);
        members.get(group).push(number);
      }
    }
    const nesting = this.graph.groups.map(() => 0);
    for (const { index, parent } of [...this.graph.groups].reverse()) {
      if (parent < 0 || !members.has(index)) continue;  // a closed group is a box
      nesting[parent] = Math.max(nesting[parent], nesting[index] + 1);
    }
    const found = new Map();
    for (const [group, numbers] of members) {
      const rect = rectAround(numbers.map((one) => this.boxes.get(one)), 5 + 3 * nesting[group]);
      const own = new Set(numbers);
      const others = [...this.boxes].filter(([number]) => !own.has(number));
      if (!others.some(([, other]) => rectsOverlap(rect, other))) {
        found.set(this.graph.count + group, rect);
      }
    }
    return found;
  }

  /** Return the names of the rails and of the columns. */
  _heads() {
    const { headSize, nameSize, smallSize, cardPadding, cellGap } = LAYOUT.ladder;
    const { forwardHead: first, backwardHead: last, columnNotes, newHead, viaHead } = LAYOUT.ladder;
    const y = LAYOUT.margin + this.graph.captionSize[1] + 14;
    const found = [];
    const add = (x, top, text, size, look) =>
      found.push({ x, y: top, words: this._words(text), size, look });
    const wide = (text) => this._words(text).width(headSize, true);
    add(this.left + this.railWidth / 2 - wide(first) / 2, y, first, headSize, "title");
    if (this.backward.shapes.length) {
      const middle = this.rightX + this.backward.width / 2;
      add(Math.max(this.rightX, middle - wide(last) / 2), y, last, headSize, "gradient");
    }
    let x = this.cardX + cardPadding;
    for (const [column, width] of this.columns) {
      const isVia = column.startsWith("via ");
      if (!isVia || column === "via 0") {
        const note = columnNotes[column];
        add(x, y, column === "new" ? newHead : isVia ? viaHead : column, nameSize, "title");
        const fits = note && this._words(note).width(smallSize) <= width + cellGap - 2;
        if (fits) add(x, y + 12, note, smallSize, "quiet");
      }
      x += width + cellGap;
    }
    return found;
  }
}

function rightOf({ x, width }) {
  return x + width;
}

function bottomOf({ y, height }) {
  return y + height;
}

function rectsOverlap(one, other) {
  return one.x < rightOf(other) && other.x < rightOf(one)
    && one.y < bottomOf(other) && other.y < bottomOf(one);
}

/** Return the rectangle around other rectangles, with padding at all sides. */
function rectAround(rects, room) {
  const x = Math.min(...rects.map((rect) => rect.x)) - room;
  const y = Math.min(...rects.map((rect) => rect.y)) - room;
  const right = Math.max(...rects.map(rightOf)) + room;
  const bottom = Math.max(...rects.map(bottomOf)) + room;
  return { x, y, width: right - x, height: bottom - y };
}
