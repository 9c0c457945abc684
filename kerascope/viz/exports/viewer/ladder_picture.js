// The picture of a ladder: cards with lines of cells, and lines that represent several arrows.

class LadderPicture extends Picture {
  constructor(graph, root) {
    super(graph, root);
    for (const name of ["marks", "pointed"]) {
      this.layers[name] = root.appendChild(svg("g", { class: name }));
    }
    this.root.addEventListener("pointerover", ({ target }) => this._point(target));
  }

  _looks() {
    return ["plain", "gradient", ...super._looks()];
  }

  // --- lines -------------------------------------------------------------------------------------

  _drawArrows() {
    this.arrows.clear();
    this.pointed = [];
    const lines = { edges: [], marks: [], pointed: [] };
    for (const stroke of this.places.strokes) {
      const where = stroke.isMark ? "marks" : stroke.whenPointed ? "pointed" : "edges";
      const element = stroke.isMark ? this._mark(stroke) : this._stroke(stroke);
      lines[where].push(element);
      for (const number of stroke.edges) this.arrows.set(number, element);
      if (stroke.whenPointed) {
        this.pointed.push([this.showing.arrows.get(stroke.edges[0]).target, element]);
      }
    }
    for (const [name, elements] of Object.entries(lines)) {
      this.layers[name].replaceChildren(...elements);
    }
    const words = this.places.words.map(({ x, y, words: own, size, look }) => {
      const kind = ["title", "quiet"].includes(look) ? look : `word ${look}`;
      return textLine(kind, x, y, own, size);
    });
    this.layers.labels.replaceChildren(...this.titles, ...words);
  }

  _stroke({ edges, points, look, width, whenPointed }) {
    const { edge } = this.showing.arrows.get(edges[0]);
    const isNothing = width === 0;
    const kind = ["edge", look, isNothing && "nothing", stateClass(edge),
      whenPointed && "when-pointed"].filter(Boolean).join(" ");
    const path = svg("path", {
      class: kind,
      d: pathData(points),
      "marker-end": isNothing ? null : `url(#head-${stateClass(edge) || look || "plain"})`,
      style: width ? `stroke-width:${short(width)}px` : null,
      ...this._ends(edges),
    });
    path.append(svg("title", {}, this._told(edges)));
    return path;
  }

  /** Create the sign that represents the arrows between a variable and its new value. */
  _mark({ edges, points: [[x, y]] }) {
    const sign = textLine("sign", x, y, measured(this.graph, LAYOUT.ladder.updateSign),
      LAYOUT.titleSize);
    const title = svg("title", {}, this._told(edges));
    return svg("g", { class: "k-update rewritten", ...this._ends(edges) }, title, sign);
  }

  /** Return the ends of the first arrow of a line and, if there are several, of all arrows. */
  _ends(edges) {
    const pairs = edges.map((number) => this._pair(number));
    const [[source, target]] = pairs;
    const first = { "data-source": source, "data-target": target };
    return edges.length > 1 ? { ...first, "data-edges": JSON.stringify(pairs) } : first;
  }

  _pair(number) {
    const { source, target } = this.showing.arrows.get(number);
    return [this.graph.boxes[source].id, this.graph.boxes[target].id];
  }

  _told(edges) {
    return edges.map((number) => {
      const { shape } = this.graph.edges[number].attributes;
      const words = this._pair(number).join(" to ");
      return shape ? `${words}: ${shape}` : words;
    }).join("; ");
  }

  /** Show further operands of the gradient under the pointer. */
  _point(element) {
    const own = element.closest("[role=button]");
    for (const [target, line] of this.pointed) {
      line.classList.toggle("seen", own !== null && this.elements.get(target) === own);
    }
  }

  // --- cards -------------------------------------------------------------------------------------

  _frameLook(number) {
    return this._isCard(number) ? "card" : "";
  }

  _isCard(number) {
    return this.graph.boxes[number].style.kind === "card";
  }

  /** Draw the title of a card in one line, and that of a frame on a rail above the frame. */
  _frameTitle(number, { x, y, width }) {
    const group = this.graph.groups[number - this.graph.count];
    const { name, detail } = group;
    const { nameSize, cardHead } = LAYOUT.ladder;
    const wide = name.width(nameSize, true);
    if (this._isCard(number)) {
      const place = { x: short(x + 3), y: short(y + 3), width: short(width - 6),
        height: cardHead - 6 };
      const title = this._titleGroup(number, place);
      const bottom = y + 4 + LAYOUT.frameSize;
      title.append(
        textLine("title name", x + 11, bottom, name, LAYOUT.frameSize, true),
        textLine("quiet", x + 21 + wide, bottom, detail, LAYOUT.lineSize),
        openingSign(x + width - 2, y + 2, true),
      );
      return title;
    }
    const size = LAYOUT.cellSize;
    const room = name.width(size) + 8;
    const place = { x: short(x), y: short(y - size - 4), width: short(room), height: size + 4 };
    const title = this._titleGroup(number, place);
    if (group.parent < 0) title.append(textLine("quiet", x + 4, y - 3, name, size));
    const around = groupsAround(this.graph, number).length;
    title.append(openingSign(x + width - 16 * around, y, true));
    return title;
  }

  /** Create cells and closed cards, whose widths depend on the current columns. */
  _box(number) {
    const box = this.graph.boxes[number];
    const rect = this.places.boxes.get(number);
    if (box.attributes.line !== undefined) return drawCell(box, rect);
    if (!this._isCard(number)) return super._box(number);
    const element = drawBox(box, false, { ...sizeOf(box, false), width: rect.width });
    this._letOpen(element, rect.width);
    return element;
  }
}

/** Create a cell of a card: its text in one line, with a bar below it if it has a size. */
function drawCell(box, { width, height }) {
  const rect = { x: 0, y: 0, width, height };
  const group = boxGroup(box, rect);
  if (width < LAYOUT.ladder.leastWidth) {
    group.append(outline(rect, box.style, 0, "spot")); // an update, shown by its sign in the slot
    return group;
  }
  group.append(outline(rect, box.style, 0, "line"));
  for (let frame = 1; frame < box.style.frames; frame++) {
    group.append(outline(rect, box.style, 3 * frame, "line inner"));
  }
  group.append(...barOf(box, rect), ...cellWords(box, rect));
  return group;
}

function barOf({ attributes: { share } }, { width, height }) {
  if (share === undefined) return [];
  const { cellPadding } = LAYOUT.ladder;
  const room = width - 4 * cellPadding;
  return [["bar-ground", room], ["bar", room * share]].map(([look, wide]) =>
    svg("rect", { class: look, x: 2 * cellPadding, y: height - 5, width: short(wide), height: 3 }));
}

function cellWords(box, { width, height }) {
  const { cellPadding, markWidth } = LAYOUT.ladder;
  const { frameSize, signGap, lineSize } = LAYOUT;
  const hasBar = box.attributes.share !== undefined;
  const y = height / 2 + frameSize * 0.36 - (hasBar ? 2 : 0);
  const x = cellPadding + 3;
  const found = [
    textLine("sign", x, y, box.sign, frameSize),
    textLine("title", x + box.sign.width(frameSize) + signGap, y, box.title, frameSize, true),
  ];
  const hasMark = ["variable", "slot"].includes(box.style.kind);
  let right = width - cellPadding - (hasMark ? markWidth : 0);
  for (const line of [...box.lines].reverse()) {
    right -= line.width(lineSize);
    found.push(textLine("quiet", right, y, line, lineSize));
    right -= cellPadding;
  }
  return found;
}
