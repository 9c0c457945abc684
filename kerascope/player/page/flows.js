// The values on the arrows of a picture, and the frame around the current box.
// Small images have the colours in `data.shades`: by theme, and by the letter of the colour scale.

const LETTERS = "zyxwvutsr0123456789"; // the shades of cells, from the least number to the greatest

class Flows {
  constructor(viewer, isInside) {
    this.viewer = viewer;
    this.graph = viewer.graph;
    this.isInside = isInside;
    this.most = {};
    this.focus = -1;
    this.last = [new Map(), -1, -1];
    this.drawn = new Map();
    this.bind();
  }

  /** Start again after a frame was opened or closed. */
  bind() {
    const { picture, root, showing } = this.viewer;
    this.back?.remove();
    this.front?.remove();
    this.back = svg("g", { class: "flows" });
    root.insertBefore(this.back, picture.layers.boxes);
    this.front = root.appendChild(svg("g", { class: "flows" }));
    this.drawn.clear(); // what lies on the arrows now: drawing all of it takes long
    this.marks = [];
    this.lines = new Map();
    this.ends = new Map();
    this.leaving = new Map(); // of closed frames
    this.arriving = new Map();
    const add = (map, number, edge) => {
      if (number < this.graph.count) return;
      if (!map.has(number)) map.set(number, []);
      map.get(number).push(edge);
    };
    for (const { edge, source, target } of showing.arrows.values()) {
      add(this.leaving, source, edge);
      add(this.arriving, target, edge);
    }
  }

  /** Draw the last values again. */
  again() {
    this.bind();
    this.draw(...this.last);
  }

  // --- places on arrows --------------------------------------------------------------------------

  /** Return the arrows for the value of a box. For a gradient of a ladder: the incoming arrows. */
  linesOf(number) {
    if (!this.lines.has(number)) this.lines.set(number, this._findLines(number));
    return this.lines.get(number);
  }

  _findLines(number) {
    const box = this.graph.boxes[number];
    if (this._isCell(number)) return [];
    const elements = (edges = []) => [...new Set(edges.map((edge) =>
      this.viewer.picture.arrows.get(edge.number)))].filter(isLine);
    const isFrame = number >= this.graph.count;
    const leaving = elements(isFrame ? this.leaving.get(number) : box.outgoing);
    if (!this.graph.isLadder) return leaving;
    const arriving = elements(isFrame ? this.arriving.get(number) : box.incoming).filter(isBack);
    return arriving.length ? arriving : leaving.filter((line) => !isBack(line));
  }

  _isCell(number) {
    return this.graph.boxes[number].attributes.line !== undefined;
  }

  /** Return whether a value is visible: at its box, or on the arrows from an enclosing frame. */
  _isSeen(number, way, flows) {
    const { showing, picture } = this.viewer;
    const stand = showing.boxFor(number);
    if (stand === number) return picture.places.boxes.has(number);
    return !flows.has(`${stand}.${way}`) && this.linesOf(number).length > 0;
  }

  /** Return whether a gradient has several incoming arrows. Then only the sum is known. */
  _isSum(number) {
    const lines = this.linesOf(number);
    return this.graph.isLadder && lines.length > 1 && isBack(lines[0]);
  }

  _rect(number) {
    const { showing, picture } = this.viewer;
    return picture.rectOf(showing.boxFor(number));
  }

  /** Return the place for the value in a ladder's cell, or null for other boxes. */
  _area(number) {
    if (!this._isCell(number)) return null;
    const { cellPadding, markWidth } = LAYOUT.ladder;
    const { valueWidth: width } = this.graph.room;
    const { x, y, width: wide, height } = this._rect(number);
    const hasMark = ["variable", "slot"].includes(this.graph.boxes[number].style.kind);
    const left = x + wide - cellPadding - (hasMark ? markWidth : 0) - width;
    return { x: left, y: y + 2, width, height: height - 4 };
  }

  /** Return the middle of a value: on the first arrow from its box, or below the box. */
  _place(number) {
    const [path] = this.linesOf(number);
    const { x, y, width, height } = this._area(number) || this._rect(number);
    if (this._isCell(number)) return { x: x + width / 2, y: y + height / 2 };
    if (!path) return { x: x + width / 2, y: y + height + 18 };
    if (this._isSum(number)) return { x: x + width / 2, y: y - 14 };
    const long = path.getTotalLength();
    const near = Math.min(long / 2, 28);
    return path.getPointAtLength(this.graph.isLadder && isBack(path) ? long - near : near);
  }

  // --- sizes -------------------------------------------------------------------------------------

  /** Return the group of sizes to compare with: the same column, or the same direction. */
  _scale(number, way) {
    return this._isCell(number) ? this.graph.boxes[number].attributes.column : way;
  }

  /** Compare sizes over all steps, so that the widths of arrows are comparable between steps. */
  compare(steps) {
    for (const { flows } of steps) {
      for (const [number, way, spec] of flows) {
        if (!spec || spec[0] === null) continue;
        const scale = this._scale(number, way);
        this.most[scale] = Math.max(this.most[scale] || 0, spec[0]);
      }
    }
  }

  _share(number, way, size) {
    return size / (this.most[this._scale(number, way)] || 1);
  }

  // --- drawing -----------------------------------------------------------------------------------

  show(flows, before, focus, isMoving) {
    this.last = [flows, before, focus];
    this.draw(flows, before, focus);
    this.look(isMoving);
  }

  draw(flows, before, focus) {
    const seen = new Map();
    for (const [key, flow] of flows) {
      const [number, way] = key.split(".").map(Number);
      if (this._isSeen(number, way, flows)) seen.set(key, { number, way, ...flow });
    }
    for (const [key, { parts }] of this.drawn) {
      if (seen.has(key)) continue;
      for (const part of parts) part.remove();
      this.drawn.delete(key);
    }
    for (const [key, { number, way, spec, at }] of seen) {
      const isFresh = at > before && at >= 0;
      const beside = way ? seen.get(`${number}.0`)?.spec : null;
      const known = this.drawn.get(key);
      const isSame = known && known.spec === spec && known.isFresh === isFresh;
      if (isSame && known.beside === beside) continue;
      for (const part of known?.parts || []) part.remove();
      const parts = [svg("g"), svg("g")];
      this.back.append(parts[0]);
      this.front.append(parts[1]);
      if (way === 2) this._attention(parts[1], number, spec, isFresh, beside);
      else if (way) this._gradient(parts, number, spec, isFresh, beside);
      else this._value(parts, number, spec, isFresh);
      this.drawn.set(key, { parts, spec, isFresh, beside });
    }
    this._mark(focus);
  }

  _mark(focus) {
    const { picture, showing } = this.viewer;
    for (const part of this.marks) part.remove();
    this.marks = [];
    for (const element of picture.elements.values()) element.classList.remove("focus");
    this.focus = focus < 0 ? -1 : showing.boxFor(focus);
    const rect = this._focusRect();
    if (!rect) return;
    picture.elements.get(this.focus).classList.add("focus");
    const { x, y, width, height } = rect;
    const around = { x: x - 5, y: y - 5, width: width + 10, height: height + 10, rx: 9 };
    const words = `▶ ${say("now")}`;
    const wide = words.length * 8 + 10;
    const right = x + width + 10;
    this.marks = [
      svg("rect", { class: "halo", ...around }),
      svg("g", { class: "flag" },
        svg("rect", { x: right - wide, y: y - 15, width: wide, height: 16, rx: 3 }),
        svg("text", { x: right - wide / 2, y: y - 3 }, words)),
    ];
    this.front.append(...this.marks);
  }

  /** Return the rectangle of the current box, or of the title of an open frame. */
  _focusRect() {
    if (this.focus < 0) return null;
    const { boxes, frames } = this.viewer.picture.places;
    const frame = frames.get(this.focus);
    if (!frame) return boxes.get(this.focus);
    const [wide, high] = this.graph.groups[this.focus - this.graph.count].size;
    return { ...frame, width: Math.min(wide + 16, frame.width), height: high + 10 };
  }

  /** Show the whole picture if it is readable, otherwise the current box in the middle. */
  look(isMoving = false) {
    const { view } = this.viewer;
    const { clientWidth: wide, clientHeight: high } = view.canvas;
    const { width, height } = view.size;
    if (!wide || !high) return;
    const { isLadder } = this.graph;
    const across = wide / width;
    // The whole width of a ladder if readable, because its two rails belong together.
    const whole = isLadder && across >= 0.7 ? Math.min(across, 1) : Math.min(across, high / height);
    const least = this.isInside ? Math.min(1, across) : whole > 0.7 && isLadder ? 0.7 : 0.9;
    const rect = this._focusRect();
    let scale = Math.min(Math.max(whole, least), 1.35);
    if (rect) {
      scale = Math.min(scale, (wide - 16) / (rect.width + 12), (high - 16) / (rect.height + 30));
    }
    if (view.isChosen) scale = view.zoom;
    view.scaleTo(scale);
    if (!rect) {
      view.canvas.scrollTo(0, 0);
      return;
    }
    view.canvas.scrollTo({
      left: (rect.x + rect.width / 2) * scale + Math.max(0, (wide - width * scale) / 2) - wide / 2,
      top: (rect.y + rect.height / 2) * scale + Math.max(0, (high - height * scale) / 2) - high / 2,
      behavior: isMoving ? "smooth" : "instant",
    });
  }

  _value([back, front], number, spec, isFresh) {
    for (const line of this.linesOf(number)) {
      const look = `passed${isFresh ? " fresh" : ""}`;
      back.append(svg("path", { class: look, d: line.getAttribute("d") }));
    }
    this._cells(front, this._place(number), spec, 0, isFresh, number);
  }

  /** Show the attention maps of a call at the right side of its output. */
  _attention(front, number, spec, isFresh, beside) {
    const { x, y } = this._place(number);
    const wide = (beside ? this._wide(beside) : 0) + this._wide(spec);
    this._cells(front, { x: x + wide / 2 + 4, y }, spec, 0, isFresh, number);
  }

  _gradient([back, front], number, spec, isFresh, beside) {
    const [size] = spec;
    const isZero = size === 0;
    const share = this._share(number, 1, size);
    const { isLadder } = this.graph;
    const aside = isLadder ? 0 : 11;
    const look = `gradient${isZero ? " zero" : ""}${isFresh ? " fresh" : ""}`;
    for (const path of this.linesOf(number)) {
      const { source, target } = path.dataset;
      const words = `${say("arriving")} ${isLadder ? target : source}`;
      back.append(svg("path", {
        class: look,
        d: path.getAttribute("d"),
        transform: `translate(${aside} 0)`,
        "stroke-width": isZero || this._isSum(number) ? 1.6 : 1.6 + 4.9 * share,
        "stroke-opacity": isZero ? 1 : 0.55 + 0.45 * share,
      }, svg("title", {}, isZero ? `${words} ${say("zero")}` : `${words}: ‖·‖ ${size}`)));
      if (!this.ends.has(path)) {
        this.ends.set(path, path.getPointAtLength(isLadder ? path.getTotalLength() : 0));
      }
      const { x: left, y } = this.ends.get(path);
      const x = left + aside;
      back.append(isZero ? svg("path", { class: "stop", d: `M${x - 6} ${y + 2}h12` })
        : svg("path", { class: "tip", d: `M${x - 5} ${y + 9}L${x} ${y}L${x + 5} ${y + 9}Z` }));
    }
    const place = this._place(number);
    if (isLadder) {
      this._cells(front, place, spec, 1, isFresh, number);
      return;
    }
    const off = Math.max(beside ? this._wide(beside) / 2 + 4 : 0, 16);
    const x = place.x + off + this._wide(spec) / 2;
    this._cells(front, { x, y: place.y }, spec, 1, isFresh, number);
  }

  _wide([, kind, ...rest]) {
    if (kind === "c") return rest.reduce((sum, word) => sum + wideWord(word), 0);
    if (kind === "h") return Math.min(rest[0], 16) * 7;
    if (kind === "i") return imagesOf(rest).width;
    return 64;
  }

  /** Show a few numbers as text, more as shades, and larger arrays as a bar for their norm. */
  _cells(front, at, spec, way, isFresh, number) {
    const [size, kind, ...rest] = spec;
    const look = ["cells", `way${way}`, isFresh && "fresh", size === 0 && "zero"];
    const place = svg("g", { class: look.filter(Boolean).join(" ") });
    const wide = this._wide(spec);
    const area = this._area(number);
    front.append(place);
    if (area) {
      let high = 16;
      if (kind === "h") high = Math.min(34, 7 * Math.ceil(rest[1].length / rest[0]));
      if (kind === "i") ({ high } = imagesOf(rest));
      const fit = Math.min(1, area.width / wide, area.height / high);
      const there = `translate(${at.x} ${at.y}) scale(${fit}) translate(${-at.x} ${-at.y})`;
      place.setAttribute("transform", there);
      place.classList.toggle("small", fit < 0.7);
    }
    const draw = { c: drawNumbers, h: drawShades, i: drawImages }[kind];
    if (draw) draw(place, at, wide, rest);
    else this._bar(place, at, wide, size, this._share(number, way, size || 0), rest[1] || "");
    const words = { c: rest.join(", "), h: `‖·‖ ${size}` };
    const norm = size === null ? "NaN/Inf" : size;
    const sign = (kind === "i" ? imagesOf(rest).sign : rest[1]) || "·";
    place.append(svg("title", {}, words[kind] || `${rest[0]}: ‖${sign}‖ ${norm}`));
  }

  _bar(place, at, wide, size, share, sign) {
    const x = at.x - wide / 2;
    place.append(
      svg("rect", { class: "bar", x, y: at.y - 8, width: wide, height: 16 }),
      svg("rect", { class: "full", x, y: at.y + 4, width: wide * share, height: 4 }),
      svg("text", { x: at.x, y: at.y + 2 }, size === null ? "NaN/Inf" : `${sign}${size}`),
    );
  }
}

function isLine(element) {
  return element?.matches("path.edge:not(.when-pointed)");
}

function isBack(line) {
  return line.classList.contains("gradient");
}

function wideWord(word) {
  return Math.max(24, word.length * 6.6 + 6);
}

function drawNumbers(place, at, wide, words) {
  const most = Math.max(...words.map((word) => Math.abs(+word) || 0)) || 1;
  let x = at.x - wide / 2;
  for (const word of words) {
    const step = wideWord(word);
    place.append(
      cell(x, at.y - 8, step, 16, +word / most, word === "0"),
      svg("text", { x: x + step / 2, y: at.y + 4 }, word.replace("-", "−")),
    );
    x += step;
  }
}

function drawShades(place, at, wide, [columns, letters]) {
  const rows = Math.ceil(letters.length / columns);
  const step = wide / columns;
  const high = Math.min(7, 34 / rows);
  const zero = LETTERS.indexOf("0");
  [...letters].forEach((letter, i) => {
    const x = at.x - wide / 2 + (i % columns) * step;
    const y = at.y - rows * high / 2 + Math.floor(i / columns) * high;
    place.append(cell(x, y, step, high, (LETTERS.indexOf(letter) - zero) / zero, false));
  });
}

/** Return the images of a value, the sign of a change, and the size at which they are drawn. */
function imagesOf([shape, letter, columns, ...texts]) {
  const sign = texts.at(-1) === "Δ" ? texts.pop() : "";
  const { length: count } = texts, rows = texts[0].length / columns;
  const gaps = 2 * (count - 1);
  const widest = rows > 1 ? 150 : 64; // a single row stays readable in a small cell
  const pixel = Math.min(7, 32 / rows, (widest - gaps) / (columns * count));
  const size = { width: columns * pixel * count + gaps, high: Math.max(rows * pixel, 6) };
  return { letter, columns, rows, texts, sign, gaps, ...size };
}

const urls = new Map(); // the images that were made, by theme, colours and text

function urlOf(text, letter, columns, rows) {
  const { theme } = document.documentElement.dataset;
  const key = `${theme}${letter}${columns} ${text}`;
  if (!urls.has(key)) {
    const canvas = make("canvas");
    Object.assign(canvas, { width: columns, height: rows });
    const context = canvas.getContext("2d"), { letters, [theme]: colors } = data.shades;
    [...text].forEach((one, i) => {
      context.fillStyle = colors[letter][letters.indexOf(one)];
      context.fillRect(i % columns, Math.floor(i / columns), 1, 1);
    });
    urls.set(key, canvas.toDataURL());
  }
  return urls.get(key);
}

function drawImages(place, at, wide, rest) {
  const { letter, columns, rows, texts, gaps, high } = imagesOf(rest);
  const width = (wide - gaps) / texts.length, y = at.y - high / 2;
  texts.forEach((text, i) => {
    const around = { x: at.x - wide / 2 + i * (width + 2), y, width, height: high };
    const href = urlOf(text, letter, columns, rows);
    place.append(svg("image", { ...around, href, preserveAspectRatio: "none" }),
      svg("rect", { class: "outline", ...around }));
  });
}

function cell(x, y, width, height, share, isNone) {
  const color = share < 0 ? "negative" : "positive";
  const part = Math.round(Math.abs(share) * 38);
  const fill = `fill:color-mix(in srgb, var(--${color}) ${part}%, var(--background))`;
  return svg("rect", { class: isNone ? "cell none" : "cell", x, y, width, height, style: fill });
}
