// The picture: all visible parts as elements of one SVG.
//
// Boxes are created once and moved. Arrows and frames are created again at each opening or closing.

class Picture {
  constructor(graph, root) {
    this.graph = graph;
    this.root = root;
    this.layers = {};
    for (const name of ["depths", "frames", "edges", "labels", "boxes"]) {
      this.layers[name] = root.appendChild(svg("g", { class: name }));
    }
    root.prepend(this._heads());
    this.elements = new Map(); // number of a box or frame -> its element that can have the focus
    this.drawnBoxes = new Map();
    this.arrows = new Map();
  }

  /** Draw the visible parts at their positions. */
  draw(showing, places, rankdir) {
    if (rankdir !== this.rankdir) this.drawnBoxes.clear();
    this.rankdir = rankdir;
    this.showing = showing;
    this.places = places;
    this.elements.clear();
    this._drawCaption();
    this._drawFrames();
    this._drawArrows();
    this._drawBoxes();
  }

  /** Mark the selected box and its arrows. */
  choose(number, marked) {
    for (const [other, element] of this.elements) {
      element.classList.toggle("chosen", other === number);
      element.classList.toggle("found", other === marked);
    }
    const chosen = new Set();
    for (const [edge, element] of number < 0 ? [] : this.arrows) {
      const { source, target } = this.showing.arrows.get(edge);
      if (this._isIn(source, number) !== this._isIn(target, number)) chosen.add(element);
    }
    for (const element of this.arrows.values()) {
      element.classList.toggle("chosen", chosen.has(element));
    }
  }

  /** Return the rectangle of a box or a frame's title. */
  rectOf(number) {
    return this.places.boxes.get(number) || this.places.frames.get(number);
  }

  _isIn(box, number) {
    if (box === number) return true;
    if (number < this.graph.count) return false;
    return groupsAround(this.graph, box).includes(number - this.graph.count);
  }

  // --- around the boxes --------------------------------------------------------------------------

  _drawCaption() {
    const { left, depths } = this.places;
    const [title, ...lines] = this.graph.lines;
    const top = LAYOUT.margin;
    const size = LAYOUT.captionSize;
    const texts = [textLine("caption", left, top + size, title, size, true)];
    lines.forEach((line, row) => {
      const y = top + LAYOUT.captionHeight + row * LAYOUT.lineHeight + LAYOUT.lineSize;
      texts.push(textLine("quiet", left, y, line, LAYOUT.lineSize));
    });
    for (const [depth, rect] of depths) {
      const y = rect.y + rect.height / 2 + LAYOUT.depthSize * 0.35;
      texts.push(svg("text", { class: "depth", x: short(rect.x), y: short(y) }, `depth ${depth}`));
    }
    this.layers.depths.replaceChildren(...texts);
  }

  _drawFrames() {
    const rects = [];
    const titles = [];
    for (const [number, rect] of this._inOrder(this.places.frames)) {
      const { x, y, width, height } = rect;
      const size = { x: short(x), y: short(y), width: short(width), height: short(height), rx: 8 };
      const box = this.graph.boxes[number];
      const kind = ["frame", this._frameLook(number), stateClass(box)].filter(Boolean).join(" ");
      rects.push(svg("rect", { class: kind, "data-id": box.id, ...size }));
      const title = spaced(this._frameTitle(number, rect));
      this.elements.set(number, title);
      titles.push(title);
    }
    // Titles follow arrows, so that they are on top of them.
    this.layers.frames.replaceChildren(...rects);
    this.titles = titles;
  }

  /** Return the classes of a frame's kind. */
  _frameLook() {
    return "";
  }

  _frameTitle(number, { x, y, width }) {
    const { name, detail, size } = this.graph.groups[number - this.graph.count];
    const wide = Math.min(size[0] + 16, width);
    const place = { x: short(x + 3), y: short(y + 3), width: short(wide), height: size[1] + 7 };
    const title = this._titleGroup(number, place);
    const bottom = y + 6 + LAYOUT.frameSize;
    title.append(textLine("title name", x + 11, bottom, name, LAYOUT.frameSize, true));
    if (detail.text) {
      title.append(textLine("quiet", x + 11, bottom + LAYOUT.lineHeight, detail, LAYOUT.lineSize));
    }
    title.append(openingSign(x + width - 2, y + 2, true));
    return title;
  }

  /** Create the group of a frame's title, which receives clicks and the focus. */
  _titleGroup(number, place) {
    const { name, detail } = this.graph.groups[number - this.graph.count];
    const box = this.graph.boxes[number];
    const members = countText(box.attributes.members || 0, "box", "boxes");
    const inside = `${members} ${said("inside")}`;
    const words = [name.text, detail.text, inside].filter(Boolean).join(", ");
    const spread = { role: "button", tabindex: "-1", "aria-expanded": "true", "aria-label": words };
    const title = svg("g", { class: "frame-title", "data-id": box.id, ...spread });
    title.append(svg("title", {}, `${words}. ${said("Click to close.")}`));
    title.append(svg("rect", { class: "ring", ...place, rx: 6 }));
    return title;
  }

  // --- arrows ------------------------------------------------------------------------------------

  /** Create one arrow head for each look of an arrow. */
  _heads() {
    const looks = new Set(["chosen", ...this._looks()]);
    const heads = [...looks].map((look) =>
      svg(
        "marker",
        {
          id: `head-${look}`, class: `head ${look}`, viewBox: "0 0 8 8", refX: 7.6, refY: 4,
          markerWidth: 8, markerHeight: 8, markerUnits: "userSpaceOnUse", orient: "auto",
        },
        svg("path", { d: "M0,0.6L8,4L0,7.4Z" }),
      ),
    );
    return svg("defs", {}, ...heads);
  }

  _looks() {
    return this.graph.edges.map(lookOf);
  }

  _drawArrows() {
    this.arrows.clear();
    const labels = [];
    for (const [number, { edge, source, target }] of this.showing.arrows) {
      const { role, shape } = edge.attributes;
      const { boxes } = this.graph;
      const kind = ["edge", role, stateClass(edge)].filter(Boolean).join(" ");
      const words = `${boxes[source].id} to ${boxes[target].id}`;
      const path = svg("path", {
        class: kind,
        d: pathData(this.places.paths.get(number)),
        "marker-end": `url(#head-${lookOf(edge)})`,
        "data-source": boxes[source].id,
        "data-target": boxes[target].id,
      });
      path.append(svg("title", {}, shape ? `${words}: ${shape}` : words));
      this.arrows.set(number, path);
      const rect = this.places.labels.get(number);
      if (rect) labels.push(...this._label(edge, rect));
    }
    this.layers.edges.replaceChildren(...this.arrows.values());
    this.layers.labels.replaceChildren(...this.titles, ...labels);
  }

  _label(edge, { x, y, width, height }) {
    const size = { x: short(x), y: short(y), width: short(width), height };
    const ground = svg("rect", { class: "ground", ...size });
    return [ground, textLine("quiet", x + 2, y + LAYOUT.labelSize, edge.label, LAYOUT.labelSize)];
  }

  // --- boxes -------------------------------------------------------------------------------------

  _drawBoxes() {
    const sources = new Map();
    for (const { source, target } of this.showing.arrows.values()) {
      if (!sources.has(target)) sources.set(target, new Set());
      sources.get(target).add(this.graph.boxes[source].id);
    }
    const drawn = this._inOrder(this.places.boxes).map(([number, { x, y }]) => {
      const element = spaced(this._box(number));
      element.setAttribute("transform", `translate(${short(x)},${short(y)})`);
      const from = [...(sources.get(number) || [])];
      element.setAttribute("aria-label", describedBox(this.graph.boxes[number], from));
      this.elements.set(number, element);
      return element;
    });
    this.layers.boxes.replaceChildren(...drawn);
  }

  _box(number) {
    if (this.drawnBoxes.has(number)) return this.drawnBoxes.get(number);
    const box = this.graph.boxes[number];
    const size = sizeOf(box, this.rankdir === "LR");
    const element = drawBox(box, this.rankdir === "LR", size);
    if (number >= this.graph.count) this._letOpen(element, size.width);
    this.drawnBoxes.set(number, element);
    return element;
  }

  /** Add the sign that it opens to the box of a closed frame. */
  _letOpen(element, width) {
    element.setAttribute("aria-expanded", "false");
    element.classList.add("opens");
    element.append(openingSign(width - 1, 1, false));
  }

  /** Return boxes and frames with their rectangles in topological order. */
  _inOrder(places) {
    const along = ({ x, y }) => (this.rankdir === "LR" ? [x, y] : [y, x]);
    const compare = ([, one], [, other]) => {
      const [a, b] = [along(one), along(other)];
      return a[0] - b[0] || a[1] - b[1];
    };
    return [...places].sort(compare);
  }
}

/** Return the arrow head of an arrow: that of its state, or else of its role. */
function lookOf(edge) {
  const look = stateClass(edge) || edge.attributes.role || "plain";
  return /^[a-z-]+$/i.test(look) ? look : "plain";
}

/** Return the class of the state with which an overlay marked a box, an arrow or a frame. */
function stateClass({ attributes }) {
  return attributes.state ? `is-${attributes.state}` : "";
}

function countText(count, one, several) {
  return `${count.toLocaleString("en")} ${said(count === 1 ? one : several)}`;
}
