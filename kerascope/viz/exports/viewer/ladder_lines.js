// The lines of a ladder; all arrows of a rung form one line. Port of layout/ladder.py.

class LadderLines {
  constructor(ladder) {
    this.ladder = ladder;
    this.graph = ladder.graph;
    this.boxes = ladder.boxes;
    this.strokes = [];
    this.words = [];
    this.taken = { left: [], right: [] };
    this._portsUsed = new Map();
    this._touched = new Map(); // heights of rungs at each card's sides
  }

  /** Compute all lines. */
  draw() {
    const { ladder } = this;
    this._rail(ladder.forward, ladder.left + (ladder.railWidth - ladder.forward.width) / 2, false);
    this._rail(ladder.backward, ladder.rightX, true);
    const bundles = new Map();
    const put = (key, arrow) => {
      const name = key.join(" ");
      if (!bundles.has(name)) bundles.set(name, { key, arrows: [] });
      bundles.get(name).arrows.push(arrow);
    };
    for (const arrow of ladder.showing.arrows.values()) {
      const [one, other] = [ladder.kind.get(arrow.source), ladder.kind.get(arrow.target)];
      if (one === other && (one === "forward" || one === "backward")) continue;
      if (arrow.edge.attributes.operand_of !== undefined) {
        put(["pointed", arrow.source, arrow.target], arrow);
        continue;
      }
      const [source, target] = [arrow.source, arrow.target].map((number) => {
        const card = ladder.cardAt(number);
        return card < 0 ? number : card;
      });
      if (source === target && one === "cell") put(this._within(arrow), arrow);
      else put(["between", source, target], arrow);
    }
    for (const { key } of bundles.values()) this._noteLevelRungs(key);
    for (const { key, arrows } of bundles.values()) this._bundle(key, arrows);
  }

  _stroke(arrows, points, look, more = {}) {
    const edges = arrows.map(({ edge }) => edge.number);
    this.strokes.push({ edges, points, look, isMark: false, whenPointed: false, ...more });
  }

  /** Store the height of a straight rung at its card, which other rungs must avoid. */
  _noteLevelRungs([what, one, other]) {
    if (what !== "between") return;
    for (const [card, box] of [[one, other], [other, one]]) {
      const kind = this.ladder.cards.has(card) ? this._kind(box) : "";
      if (kind !== "forward" && kind !== "backward") continue;
      const { y, height } = this.boxes.get(box);
      const side = kind === "forward" ? "left" : "right";
      if (isLevel(this._cardRect(card), y + height / 2)) {
        this._touchedAt(card, side).push(y + height / 2);
      }
    }
  }

  _touchedAt(card, side) {
    const key = `${card} ${side}`;
    if (!this._touched.has(key)) this._touched.set(key, []);
    return this._touched.get(key);
  }

  _rail({ level, shapes, places: own }, x, isUpward) {
    const { ladder } = this;
    const tops = level.depths.map((depth) => ladder.tops.get(depth));
    const bottoms = level.depths.map((depth) => ladder.bottoms.get(depth));
    const places = { ...own, tops, bottoms };
    const reach = level.things.map((thing, item) => {
      if (level.kinds[item] !== BOX) return [tops[level.rowOf[item]], bottoms[level.rowOf[item]]];
      const rect = this.boxes.get(thing);
      return [rect.y, bottomOf(rect)];
    });
    for (const route of level.routes) {
      const arrow = ladder.showing.arrows.get(route.edge);
      const points = routePoints(level, shapes, places, route, reach)
        .map(([across, along]) => [across + x, along]);
      if (isUpward) points.reverse();
      const width = isUpward ? this._width(arrow) : null;
      this._stroke([arrow], points, isUpward ? "gradient" : "", { width });
      const label = this._labelOf(arrow);
      if (!label.text || !isUpward) continue;
      const { smallSize } = LAYOUT.ladder;
      const end = points[points.length - 1];
      const isFromRight = [points[0], points[points.length - 4]].some(([at]) => at > end[0] + 1);
      const left = isFromRight ? end[0] - label.width(smallSize) - 4 : end[0] + 4;
      const y = end[1] + 14 + 10 * this._port(arrow.target, `via ${isFromRight}`);
      this.words.push({ x: left, y, words: label, size: smallSize, look: "gradient" });
    }
  }

  /** Return an arrow's label; none if the arrow starts at a closed bundle. */
  _labelOf({ edge, source }) {
    const isHidden = source !== edge.source && source >= this.graph.count
      && this.graph.groups[source - this.graph.count].isBundle;
    return isHidden ? new Words("", 0) : edge.label;
  }

  // --- on a card ---------------------------------------------------------------------------------

  /** Return the key of the line that an arrow between two boxes of one card belongs to. */
  _within({ edge, source, target }) {
    const [one, other] = [source, target].map((number) => this.graph.boxes[number]);
    const isUpdate = edge.attributes.role === "update";
    const isSlot = one.style.kind === "slot" && other.style.kind === "update"
      && one.attributes.line === other.attributes.line
      && one.attributes.column === other.attributes.column;
    if (!isUpdate && !isSlot) return ["wire", source, target];
    const update = isUpdate ? source : target;
    return ["mark", this.ladder.attributes(update).column === "new" ? target : update];
  }

  _bundle(key, arrows) {
    const [what, one, other] = key;
    if (what === "mark") this._mark(one, arrows);
    else if (what === "wire") this._wire(one, other, arrows);
    else if (what === "pointed") this._pointed(one, other, arrows);
    else this._between(one, other, arrows);
  }

  _mark(number, arrows) {
    const { markWidth } = LAYOUT.ladder;
    const rect = this.boxes.get(number);
    const x = rect.width <= markWidth ? rect.x + 1 : rightOf(rect) - markWidth + 1;
    const point = [x, rect.y + rect.height / 2 + 4.5];
    this._stroke(arrows, [point, point, point, point], "update", { isMark: true });
  }

  /** Return the cell of a box; the new value of a slot is a mark in the slot's cell. */
  _cell(number) {
    const rect = this.boxes.get(number);
    const { markWidth, cellHeight } = LAYOUT.ladder;
    if (!this.ladder._isWritten(number)) return rect;
    const width = this.ladder.columns.get(this.ladder.attributes(number).column);
    return { x: rect.x + markWidth + 4 - width, y: rect.y - 5, width, height: cellHeight };
  }

  /** Add a wire: along the lower side of a line for gradients, otherwise along the upper. */
  _wire(source, target, arrows) {
    const { wire } = LAYOUT.ladder;
    const [one, other] = [this._cell(source), this._cell(target)];
    const isGradient = ["gradient", "sum"].includes(this.graph.boxes[source].style.kind);
    const share = isGradient ? 0.4 : 0.5;
    const [start, end] = [one.x + one.width * share, other.x + other.width * (1 - share)];
    const edge = isGradient ? bottomOf : ({ y }) => y;
    const out = isGradient ? wire - 1 : 1 - wire;
    const [y, to] = [edge(one) + out, edge(other) + out];
    let points = [[start, edge(one)], [start, y], [end, y], [end, edge(other)]];
    const { line } = this.ladder.attributes(source);
    const isSameLine = line === this.ladder.attributes(target).line;
    if (isGradient ? Math.abs(y - to) > 1 : !isSameLine) {
      const side = isGradient ? end - other.width / 2 : this.ladder.cardX + 4;
      points = [...points.slice(0, 2), [side, y], [side, to], [end, to], [end, edge(other)]];
    }
    this._stroke(arrows, polyline(points), isGradient ? "gradient" : "");
  }

  // --- between cards, rails and losses -----------------------------------------------------------

  /** Return the x of the nearest lane of a gutter that is free between two heights. */
  _lane(side, y, to) {
    const [low, high] = y < to ? [y, to] : [to, y];
    const taken = this.taken[side];
    const isFree = (lane) => !lane.some(([a, b]) => a < high + 4 && low - 4 < b);
    let lane = taken.findIndex(isFree);
    if (lane < 0) lane = taken.push([]) - 1;
    taken[lane].push([low, high]);
    const { ladder } = this;
    if (side === "left") return ladder.left + ladder.railWidth + 14 + LAYOUT.ladder.lane * lane;
    return ladder.rightX - 14 - LAYOUT.ladder.lane * lane;
  }

  /** Return the number of lines at this side so far, and count one more. */
  _port(number, side) {
    const key = `${number} ${side}`;
    const used = this._portsUsed.has(key) ? this._portsUsed.get(key) + 1 : 0;
    this._portsUsed.set(key, used);
    return used;
  }

  _cardRect(card) {
    return this.ladder.frames.get(card) || this.boxes.get(card);
  }

  _kind(number) {
    return this.ladder.cards.has(number) ? "card" : this.ladder.kind.get(number);
  }

  /** Add one line for all arrows between two of: a call, a gradient, a card, a loss. */
  _between(source, target, arrows) {
    const [from, to] = [this._kind(source), this._kind(target)];
    const isGradient = from === "backward" || to === "backward"
      || arrows[0].edge.attributes.role === "gradient";
    let points;
    if (from === "loss" && to === "loss") points = this._amongLosses(source, target);
    else if (to === "loss") points = this._toLoss(source, target);
    else if (from === "loss") points = this._fromLoss(source, target);
    else if (from === "card" && to === "card") points = this._amongCards(source, target);
    else if (from === "card") points = this._rung(source, target);
    else points = this._rung(target, source).reverse();
    const width = to === "backward" ? this._width(arrows[0]) : null;
    this._stroke(arrows, polyline(points), isGradient ? "gradient" : "", { width });
    this._label(arrows[0], points, from, to);
  }

  /** Return the width of the arrow to a gradient, proportional to the gradient's norm. */
  _width({ target }) {
    const { gradient_norm: norm } = this.ladder.attributes(target);
    if (norm === undefined || !Number.isFinite(Number(norm))) return null;
    if (!Number(norm)) return 0;
    const { thinnest, widest } = LAYOUT.ladder;
    const share = this.ladder.greatest ? Number(norm) / this.ladder.greatest : 0;
    return thinnest + (widest - thinnest) * share;
  }

  /** Return a line from a card to a box on a rail. */
  _rung(card, box) {
    const side = this._kind(box) === "backward" ? "right" : "left";
    const [rect, own] = [this._cardRect(card), this.boxes.get(box)];
    const middle = alongSide(own, 9 * this._port(box, "card"));
    const x = side === "left" ? rect.x : rightOf(rect);
    const end = side === "left" ? rightOf(own) : own.x;
    if (isLevel(rect, middle)) return [[x, middle], [end, middle]];
    const taken = this._touchedAt(card, side);
    const choices = Array.from({ length: Math.floor(rect.height / 9) },
      (_, step) => rect.y + 11 + 9 * step);
    const free = choices.find((choice) => taken.every((other) => Math.abs(choice - other) >= 8));
    const y = Math.min(free ?? Infinity, bottomOf(rect) - 5);
    taken.push(y);
    const lane = this._lane(side, y, middle);
    return [[x, y], [lane, y], [lane, middle], [end, middle]];
  }

  _amongLosses(source, target) {
    const [one, other] = [this.boxes.get(source), this.boxes.get(target)];
    const [y, to] = [one.y + one.height / 2, other.y + other.height / 2];
    if (Math.abs(y - to) < other.height / 2 - 4) return [[rightOf(one), y], [other.x, y]];
    const middle = target === this.ladder.total ? other.x - 16 : rightOf(one) + 12;
    return [[rightOf(one), y], [middle, y], [middle, to], [other.x, to]];
  }

  /** Return a line to the side of a term, or to the top of the total loss. */
  _toLoss(source, target) {
    const other = this.boxes.get(target);
    const kind = this._kind(source);
    const rect = kind === "card" ? this._cardRect(source) : this.boxes.get(source);
    const isRight = kind !== "card" && kind !== "forward";
    const start = [kind === "forward" ? rightOf(rect) : rect.x, bottomOf(rect) - 7];
    if (isRight || (target === this.ladder.total && other.x > this.ladder.lossX + 1)) {
      const [y, middle] = [this.ladder.lossTop - 8, other.x + other.width / 2];
      const lane = this._lane(isRight ? "right" : "left", start[1], y);
      return [start, [lane, start[1]], [lane, y], [middle, y], [middle, other.y]];
    }
    const y = other.y + 10 + 9 * Math.min(this._port(target, "in"), 2);
    const lane = this._lane("left", start[1], y);
    return [start, [lane, start[1]], [lane, y], [other.x, y]];
  }

  /** Return a line from a loss to a gradient, a call, or a card that contains gradients. */
  _fromLoss(source, target) {
    const one = this.boxes.get(source);
    const y = alongSide(one, 7 * this._port(source, "out"));
    const kind = this._kind(target);
    const other = kind === "card" ? this._cardRect(target) : this.boxes.get(target);
    const end = [kind === "backward" ? other.x : rightOf(other), bottomOf(other) - 7];
    if (kind === "backward") {
      const middle = other.x + other.width / 2;
      const isBelow = (rect) =>
        rect.y > bottomOf(other) && rect.x < middle && middle < rightOf(rect);
      const rest = [...this.boxes].filter(([number]) => this.ladder.kind.get(number) === kind);
      if (!rest.some(([, rect]) => isBelow(rect))) {
        return [[rightOf(one), y], [middle, y], [middle, bottomOf(other)]];
      }
    } else if (kind === "forward") {
      const lane = this._lane("left", end[1], y);
      return [[one.x, y], [lane, y], [lane, end[1]], end];
    }
    const lane = this._lane("right", end[1], y);
    return [[rightOf(one), y], [lane, y], [lane, end[1]], end];
  }

  _amongCards(source, target) {
    const [one, other] = [this._cardRect(source), this._cardRect(target)];
    const [y, to] = [bottomOf(one) - 5, other.y + 5];
    const lane = this._lane("left", y, to);
    return [[one.x, y], [lane, y], [lane, to], [other.x, to]];
  }

  /** Add the label of a line. */
  _label(arrow, points, from, to) {
    const between = to === "card" ? points.slice(-2) : points.slice(0, 2);
    let [[x, y], [end]] = between;
    let [words, look] = [this._labelOf(arrow), ""];
    const { smallSize, reads, byTheBatch, ofItself } = LAYOUT.ladder;
    const say = (text) => measured(this.graph, text);
    if (from === "card" && to === "forward") {
      const isFirst = this._port(this.ladder.cardAt(arrow.source), "reads") === 0;
      words = say(isFirst ? reads : "");
    } else if (from === "backward" && to === "card") {
      [words, look] = [say(this._which(arrow.source)), "gradient"];
    } else if (from === "forward" && to === "card") {
      words = say(byTheBatch);
    } else if (from === "loss" && to === "backward") {
      const isFirst = this._port(arrow.source, "of itself") === 0;
      if (!words.text) words = say(isFirst ? ofItself : "");
      look = "gradient";
    }
    const width = words.width(smallSize);
    if (!words.text || width > Math.abs(end - x) - 6) return;
    let at = from === "loss" ? x + 6 : (x + end - width) / 2;
    if (from === "card" && to === "forward") at = Math.max(at, x - 8 - width);
    else if (from === "backward" && to === "card") at = Math.min(at, end + 8);
    else if (from === "forward" && to === "card") at = Math.max(at, end - 8 - width);
    y += from === "forward" && to === "card" ? 9 : -4;
    this.words.push({ x: at, y, words, size: smallSize, look: look || "quiet" });
  }

  /** Return the call number of a gradient, "@1", if its layer has several; otherwise the sign. */
  _which(number) {
    const { attributes, sign } = this.graph.boxes[number];
    const name = attributes.beside || "";
    return name.includes("@") ? name.slice(name.lastIndexOf("@")) : LAYOUT.ladder.gradientSign;
  }

  /** Add a line from a further operand of a gradient, visible only under the pointer. */
  _pointed(source, target, arrows) {
    const { wire } = LAYOUT.ladder;
    const [one, other] = [this.boxes.get(source), this.boxes.get(target)];
    const [y, x] = [other.y - wire + 1, other.x + other.width * 0.3];
    const lane = this.ladder.left + this.ladder.railWidth + 8;
    const start = one.y + one.height / 2;
    let points = [[rightOf(one), start], [lane, start], [lane, y], [x, y], [x, other.y]];
    if (this._kind(target) === "card") {
      points = [...points.slice(0, 2), [lane, other.y + 9], [other.x, other.y + 9]];
    }
    this._stroke(arrows, polyline(points), "gradient", { whenPointed: true });
  }
}

/** Return a y at the side of a box, at a distance below its middle, wrapped to its height. */
function alongSide({ y, height }, below) {
  return y + 6 + ((height / 2 - 6 + below) % (height - 12));
}

/** Return whether a straight rung at this height ends at the card. */
function isLevel(card, y) {
  return card.y + 4 <= y && y <= bottomOf(card) - 4;
}

/** Return straight lines through points, as the curves of a path. */
function polyline(corners) {
  const listed = corners.map((corner) => corner.map((at) => Math.round(at * 100) / 100));
  const found = [listed[0]];
  for (let i = 1; i < listed.length; i++) {
    const [[x, y], [toX, toY]] = [listed[i - 1], listed[i]];
    if (x === toX && y === toY) continue;
    for (const share of [1 / 3, 2 / 3, 1]) {
      found.push(share === 1 ? [toX, toY] : [x + (toX - x) * share, y + (toY - y) * share]);
    }
  }
  return found;
}
