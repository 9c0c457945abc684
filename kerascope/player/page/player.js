// Plays the steps of one trace, or of two side by side. The step stands in the address: #step=12.
(async function () {
  "use strict";
  const stored = document.getElementById("data");
  const data = JSON.parse(stored.type.endsWith("json") ? stored.textContent : await unpacked());
  const root = document.querySelector(".player");
  if (data.body) document.querySelector(".sides").innerHTML = data.body;
  const one = (name, place = root) => place.querySelector(name);
  const all = (name, place = root) => [...place.querySelectorAll(name)];
  const SIGNS = ["○", "▶", "●", "◂", "✗"];
  const ORDER = { tensor_map: 0, grads: 1, updates: 2, weights: 8, "": 9 };
  const INFO = { tensor_map: "tensors", grads: "grads", updates: "updates", weights: "weights",
    nodes_depths: "depths", nodes_in_decreasing_depth: "seen" };
  const moments = data.moments || data.sides[0].steps.map((step, i) => [i]);
  const last = moments.length - 1;
  const slider = one("#moment"), live = one(".live"), player = one("[data-do=play]");
  const isInside = parent !== window;
  const quiet = matchMedia("(prefers-reduced-motion: reduce)");
  let language = "en", now = 0, timer = null, unit = data.unit || "all";
  const say = (word) => data.say[word][language];
  const text = (place, words) => { place.textContent = words; };
  const mark = (place, name, value) =>
    value ? place.setAttribute(name, value) : place.removeAttribute(name);
  function make(tag, name, words) {
    const made = document.createElement(tag);
    if (name) made.className = name;
    if (tag === "button") made.type = "button";
    if (words !== undefined) text(made, words);
    return made;
  }

  async function unpacked() {
    const bytes = Uint8Array.from(atob(stored.textContent), (letter) => letter.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    return new Response(stream).text();
  }

  // --- the picture: where it looks, and what flows along its arrows -----------------------------

  const SVG = "http://www.w3.org/2000/svg";
  function draw(tag, place, facts, words) {
    const made = document.createElementNS(SVG, tag);
    for (const [name, value] of Object.entries(facts)) made.setAttribute(name, value);
    if (words !== undefined) text(made, words);
    place.append(made);
    return made;
  }

  class Picture {
    // Of a ladder `areas` say where in each cell its value stands: x, y, width, height, column.
    constructor(frame, boxes, areas) {
      this.frame = frame;
      this.areas = areas || [];
      this.svg = one("svg", frame);
      const { width, height } = this.svg.viewBox.baseVal;
      this.size = [width, height];
      this.boxes = boxes.map((box) => box.group);
      this.lines = this.linesOf(all("path.edge:not(.when-pointed)", this.svg));
      // Asked once: to ask again after something was drawn takes a new layout each time.
      this.rects = this.boxes.map((group) => {
        const { x, y, width, height } = group.getBBox();
        return { x, y, width, height };
      });
      this.places = this.boxes.map((group, i) => this.placeOf(i));
      this.ends = new Map(this.lines.flat().map((path) => {
        const { x, y } = path.getPointAtLength(areas ? path.getTotalLength() : 0);
        return [path, { x, y }];
      }));
      this.back = draw("g", this.svg, { class: "flows" });
      this.svg.insertBefore(this.back, one("g.box", this.svg));
      this.front = draw("g", this.svg, { class: "flows" });
      this.marks = [];
      this.most = {};
      this.focus = -1;
      this.drawn = new Map(); // what lies on the arrows now: drawing all of it takes long
      frame.classList.add("moving");
    }
    // The arrows on which what a box gives lies; of a gradient of a ladder those that bring it.
    linesOf(paths) {
      const found = (key, kept) => {
        const map = new Map();
        for (const path of paths.filter(kept)) {
          if (!map.has(path.dataset[key])) map.set(path.dataset[key], []);
          map.get(path.dataset[key]).push(path);
        }
        return map;
      };
      const isBack = (path) => path.classList.contains("gradient");
      const leaving = found("source", (path) => !this.areas.length || !isBack(path));
      const arriving = found("target", (path) => this.areas.length && isBack(path));
      return this.boxes.map(({ dataset: { id } }, i) =>
        (this.areas[i]?.length ? [] : arriving.get(id) || leaving.get(id) || []));
    }
    // A gradient that several arrows bring: what each brings is not known, so the sum stands above.
    isSum(box) {
      return this.areas.length > 0 && this.lines[box].length > 1 && this.lines[box][0].classList.contains("gradient");
    }
    // With what a size is compared: those of its column, or those on the same way.
    scale(box, way) {
      return this.areas[box]?.[4] || way;
    }
    // Sizes are compared over all steps, so that an arrow is as wide at one as at another.
    compare(steps) {
      for (const step of steps) {
        for (const [box, way, spec] of step.flows) {
          const scale = this.scale(box, way);
          if (spec && spec[0] !== null) this.most[scale] = Math.max(this.most[scale] || 0, spec[0]);
        }
      }
    }
    show(flows, before, focus, moving) {
      for (const [key, { parts }] of this.drawn) {
        if (flows.has(key)) continue;
        for (const part of parts) part.remove();
        this.drawn.delete(key);
      }
      for (const [key, { spec, at: since }] of flows) {
        const [box, way] = key.split(".").map(Number);
        const fresh = since > before && since >= 0;
        const beside = way ? flows.get(`${box}.0`)?.spec : null;
        const known = this.drawn.get(key);
        if (known && known.spec === spec && known.fresh === fresh && known.beside === beside) continue;
        for (const part of known?.parts || []) part.remove();
        const parts = [draw("g", this.back, {}), draw("g", this.front, {})];
        if (way) this.gradient(parts, box, spec, fresh, beside); else this.value(parts, box, spec, fresh);
        this.drawn.set(key, { parts, spec, fresh, beside });
      }
      for (const part of this.marks) part.remove();
      this.marks = [];
      if (this.focus >= 0) this.boxes[this.focus].classList.remove("focus");
      this.focus = focus;
      if (focus >= 0) this.mark(focus);
      this.look(moving);
    }
    mark(focus) {
      const group = this.boxes[focus], { x, y, width, height } = this.rects[focus];
      group.classList.add("focus");
      const halo = draw("rect", this.front, { class: "halo", x: x - 5, y: y - 5, width: width + 10, height: height + 10, rx: 9 });
      const words = `▶ ${say("now")}`, wide = words.length * 8 + 10;
      const place = draw("g", this.front, { class: "flag" });
      this.marks = [halo, place];
      draw("rect", place, { x: x + width + 10 - wide, y: y - 15, width: wide, height: 16, rx: 3 });
      draw("text", place, { x: x + width + 10 - wide / 2, y: y - 3 }, words);
    }
    // The whole picture if it can be read so; else what is computed now in the middle.
    look(moving) {
      const wide = this.frame.clientWidth, high = this.frame.clientHeight, [width, height] = this.size;
      if (!wide || !high) return;
      const across = wide / width;
      // All of a ladder's width, if that can be read: its two rails belong together.
      const whole = this.areas.length && across >= 0.7 ? Math.min(across, 1) : Math.min(across, high / height);
      let scale = Math.min(Math.max(whole, isInside ? Math.min(1, across) : whole > 0.7 && this.areas.length ? 0.7 : 0.9), 1.35);
      const box = this.focus >= 0 ? this.rects[this.focus] : null;
      if (box) scale = Math.min(scale, (wide - 16) / (box.width + 12), (high - 16) / (box.height + 30));
      this.svg.style.width = `${width * scale}px`;
      this.svg.style.height = `${height * scale}px`;
      const left = Math.max(0, (wide - width * scale) / 2), top = Math.max(0, (high - height * scale) / 2);
      this.svg.style.margin = `${top}px ${left}px`;
      if (!box) { this.frame.scrollTo(0, 0); return; }
      this.frame.scrollTo({
        left: (box.x + box.width / 2) * scale + left - wide / 2,
        top: (box.y + box.height / 2) * scale + top - high / 2,
        behavior: moving && !quiet.matches ? "smooth" : "instant",
      });
    }
    value([back, front], box, spec, fresh) {
      for (const other of this.lines[box]) draw("path", back, { class: `passed${fresh ? " fresh" : ""}`, d: other.getAttribute("d") });
      this.cells(front, this.places[box], spec, 0, fresh, box);
    }
    // Where a value lies: on the first arrow that leaves the box, below the box if there is none.
    placeOf(box) {
      const [path] = this.lines[box], { x, y, width, height } = this.rects[box];
      const area = this.areas[box];
      if (area?.length) return { x: area[0] + area[2] / 2, y: area[1] + area[3] / 2 };
      if (!path) return { x: x + width / 2, y: y + height + 18 };
      if (this.isSum(box)) return { x: x + width / 2, y: y - 14 };
      const long = path.getTotalLength(), near = Math.min(long / 2, 28);
      return path.getPointAtLength(this.areas.length && path.classList.contains("gradient") ? long - near : near);
    }
    gradient([back, front], box, spec, fresh, beside) {
      const [size] = spec, zero = size === 0, share = size / (this.most[this.scale(box, 1)] || 1);
      const onLadder = this.areas.length > 0, aside = onLadder ? 0 : 11;
      for (const path of this.lines[box]) {
        const line = draw("path", back, {
          class: `gradient${zero ? " zero" : ""}${fresh ? " fresh" : ""}`,
          d: path.getAttribute("d"), transform: `translate(${aside} 0)`,
          "stroke-width": zero || this.isSum(box) ? 1.6 : 1.6 + 4.9 * share, "stroke-opacity": zero ? 1 : 0.55 + 0.45 * share,
        });
        draw("title", line, {}, `${say("arriving")} ${onLadder ? path.dataset.target : path.dataset.source}${zero ? ` ${say("zero")}` : `: ‖·‖ ${size}`}`);
        const end = this.ends.get(path), x = end.x + aside, y = end.y;
        draw("path", back, zero ? { class: "stop", d: `M${x - 6} ${y + 2}h12` }
          : { class: "tip", d: `M${x - 5} ${y + 9}L${x} ${y}L${x + 5} ${y + 9}Z` });
      }
      if (onLadder) { this.cells(front, this.places[box], spec, 1, fresh, box); return; }
      const at = this.places[box], off = beside ? this.wide(beside) / 2 + 4 : 0;
      this.cells(front, { x: at.x + Math.max(off, 16) + this.wide(spec) / 2, y: at.y }, spec, 1, fresh, box);
    }
    wide([, kind, ...rest]) {
      if (kind === "c") return rest.reduce((sum, word) => sum + Math.max(24, word.length * 6.6 + 6), 0);
      if (kind === "h") return Math.min(rest[0], 16) * 7;
      return 64;
    }
    // A few numbers themselves, some as shades, all others as a bar of their size.
    cells(front, at, spec, way, fresh, box) {
      const [size, kind, ...rest] = spec, wide = this.wide(spec), area = this.areas[box];
      const place = draw("g", front, { class: `cells way${way}${fresh ? " fresh" : ""}${size === 0 ? " zero" : ""}` });
      if (area?.length) {
        const high = kind === "h" ? Math.min(34, 7 * Math.ceil(rest[1].length / rest[0])) : 16;
        const fit = Math.min(1, area[2] / wide, area[3] / high);
        mark(place, "transform", `translate(${at.x} ${at.y}) scale(${fit}) translate(${-at.x} ${-at.y})`);
        place.classList.toggle("small", fit < 0.7);
      }
      let x = at.x - wide / 2;
      if (kind === "c") {
        const most = Math.max(...rest.map((word) => Math.abs(+word) || 0)) || 1;
        for (const word of rest) {
          const step = Math.max(24, word.length * 6.6 + 6), share = +word / most;
          this.cell(place, x, at.y - 8, step, 16, share, word === "0");
          draw("text", place, { x: x + step / 2, y: at.y + 4 }, word.replace("-", "−"));
          x += step;
        }
        draw("title", place, {}, rest.join(", "));
        return;
      }
      if (kind === "h") {
        const columns = rest[0], letters = rest[1], rows = Math.ceil(letters.length / columns);
        const step = wide / columns, high = Math.min(7, 34 / rows);
        [...letters].forEach((letter, i) => {
          const level = letter <= "9" ? +letter : -("rstuvwxyz".indexOf(letter) + 1);
          this.cell(place, x + (i % columns) * step, at.y - rows * high / 2 + Math.floor(i / columns) * high, step, high, level / 9, false);
        });
        draw("title", place, {}, `‖·‖ ${size}`);
        return;
      }
      const share = size === null ? 0 : size / (this.most[this.scale(box, way)] || 1);
      draw("rect", place, { class: "bar", x, y: at.y - 8, width: wide, height: 16 });
      draw("rect", place, { class: "full", x, y: at.y + 4, width: wide * share, height: 4 });
      draw("text", place, { x: at.x, y: at.y + 2 }, size === null ? "NaN/Inf" : String(size));
      draw("title", place, {}, `${rest[0]}: ‖·‖ ${size}`);
    }
    cell(place, x, y, width, height, share, zero) {
      const color = share < 0 ? "negative" : "positive", part = Math.round(Math.abs(share) * 38);
      const made = draw("rect", place, { class: zero ? "cell none" : "cell", x, y, width, height });
      made.style.fill = `color-mix(in srgb, var(--${color}) ${part}%, var(--ground))`;
    }
  }

  // --- one side: its picture, its tables, its source --------------------------------------------

  class Side {
    constructor(facts, place, number) {
      this.facts = facts;
      this.one = (name) => one(name, place);
      const { words } = facts;
      this.steps = facts.steps.map(([t, ph, depth, kind, label, user, engine, changes, states, focus, flows, caption]) =>
        ({ t, ph, depth, kind: words[kind], label: words[label], user, engine, changes, states, focus, flows, caption }));
      this.texts = all(".steps li", place).map((line) => line.textContent);
      this.lines = all(".steps li", place).map((line, i) => {
        const button = make("button", "plain", line.textContent);
        button.addEventListener("click", () => go(moments.findIndex((pair) => pair[number] >= i)));
        line.replaceChildren(button);
        return button;
      });
      this.items = all(".boxes li", place);
      this.boxes = facts.boxes.map((id, i) => this.box(id, i, place));
      this.picture = this.boxes.length ? new Picture(this.one(".picture"), this.boxes, facts.areas) : null;
      this.picture?.compare([{ flows: facts.startFlows }, ...this.steps]);
      this.closed = new Set(["", "weights"]);
      this.pinned = null;
      this.drawn = new Map(); // the tables that are there, with their rows: most stay as they are
      this.told = []; // the words of each box's state
      this.line = null; // the step that is marked in the list
      this.reset();
    }
    box(id, i, place) {
      const group = all("svg g.box", place).find((other) => other.dataset.id === id);
      const line = one("text.state", group);
      for (const part of [group, this.items[i].firstChild]) {
        part.addEventListener("click", () => this.pin(id));
      }
      return { group, line, words: group.getAttribute("aria-label") };
    }
    reset() {
      this.at = -1;
      this.tables = new Map();
      this.states = this.facts.boxes.map(() => 0);
      this.flows = new Map();
      this.apply(this.facts.startTables, this.facts.startStates, this.facts.startFlows);
    }
    // What a change says: [table, key, value], [table, key] to remove, [table] to remove it all.
    apply(changes, states, flows) {
      for (const [table, key, value] of changes) {
        if (key === undefined) { this.tables.delete(table); continue; }
        if (!this.tables.has(table)) this.tables.set(table, new Map());
        if (value === undefined) this.tables.get(table).delete(key);
        else if (key >= 0) this.tables.get(table).set(key, { value, at: this.at });
      }
      for (const [box, state] of states) this.states[box] = state;
      for (const [box, way, spec] of flows) {
        if (spec) this.flows.set(`${box}.${way}`, { spec, at: this.at });
        else this.flows.delete(`${box}.${way}`);
      }
    }
    // What has come after the step `since` is new.
    go(step, since) {
      const near = Math.abs(step - this.at) < 40;
      this.since = since;
      if (step < this.at) this.reset();
      while (this.at < step) {
        const { changes, states, flows } = this.steps[++this.at];
        this.apply(changes, states, flows);
      }
      this.show(near);
    }
    // The sentence of a step: what stands between stars is bold.
    tell(place, lane) {
      const [key, ...words] = this.steps[this.at].caption;
      const filled = data.sentences[key][language].replace(/\{(\d)\}/g, (_, i) => (words[i] ?? "").replaceAll("*", "∗"));
      text(this.one(".lane"), lane ? say(lane) : "");
      this.one(".lane").hidden = !lane;
      place.replaceChildren(...filled.split("*").map((part, i) => make(i % 2 ? "b" : "span", "", part)));
    }
    path() {
      const found = [];
      let { depth } = this.steps[this.at];
      for (let i = this.at - 1; i >= 0; i--) {
        const step = this.steps[i];
        if (step.depth >= depth) continue;
        if (step.ph === "B") found.unshift(step.label);
        depth = step.depth;
      }
      return [...this.facts.around, ...found].join(" > ");
    }
    show(moving) {
      const step = this.steps[this.at];
      this.tell(this.one(".told"), data.laneOf(now));
      this.picture?.show(this.flows, this.since, step.focus, moving && !timer);
      text(this.one(".said"), this.texts[this.at]);
      const meaning = (data.kinds[step.kind] || {})[language] || "";
      text(this.one(".meaning"), `${meaning} ${say(step.ph)}`);
      text(this.one(".path"), `t=${step.t}   ${this.path()}`);
      if (this.line) mark(this.line, "aria-current", "");
      this.line = this.lines[this.at];
      mark(this.line, "aria-current", "step");
      this.states.forEach((state, i) => {
        const words = say("state" + state), { group, line, words: name } = this.boxes[i];
        if (this.told[i] === words) return;
        this.told[i] = words;
        text(one(".state", this.items[i]), `${SIGNS[state]} ${words}`);
        if (line) text(line, `${SIGNS[state]} ${words}`); // a cell has no room for it
        group.dataset.state = state;
        mark(group, "aria-label", `${name}: ${words}`);
      });
      this.showTables();
      for (const which of ["user", "engine"]) this.showSource(which, step[which]);
      this.one(".no-source").hidden = !!(step.user || step.engine);
      const changed = new Set(step.changes.map(([table]) => INFO[this.facts.tables[table]]));
      const told = [...changed].filter(Boolean).map((name) => `\ninfo ${name}`);
      text(this.one(".commands"), `goto ${step.t}${told.join("")}`);
    }
    // Only what has changed is made anew: of a large net there are thousands of rows.
    showTables() {
      const place = this.one(".tables"), { tables, keys, values } = this.facts;
      const held = document.activeElement.dataset.key;
      const rank = (number) => ORDER[tables[number]] ?? 5;
      const order = [...this.tables.keys()].sort((a, b) => rank(a) - rank(b) || a - b);
      const before = place.scrollTop;
      const looks = { newest: "", lastName: "", pinned: "" };
      for (const [number, { folded }] of this.drawn) {
        if (this.tables.has(number)) continue;
        folded.remove();
        this.drawn.delete(number);
      }
      let next = place.firstElementChild;
      for (const number of order) {
        const name = tables[number], rows = this.tables.get(number);
        if (!this.drawn.has(number)) this.drawn.set(number, this.newTable(name));
        const { folded, heading, table, rows: drawn } = this.drawn.get(number);
        if (folded === next) next = next.nextElementSibling; else place.insertBefore(folded, next);
        for (const [key, { row }] of drawn) if (!rows.has(key)) { row.remove(); drawn.delete(key); }
        let fresh = 0, after = table.rows[1] || null;
        for (const [key, { value, at }] of rows) {
          const isNew = at > this.since && at >= 0;
          if (!drawn.has(key)) drawn.set(key, this.newRow(number, key, name));
          const one = drawn.get(key), { row, cell, button } = one, [short, full] = values[value];
          if (row === after) after = row.nextElementSibling; else table.tBodies[0].insertBefore(row, after);
          if (one.value !== value || one.isNew !== isNew || one.language !== language) {
            Object.assign(one, { value, isNew, language });
            row.className = isNew ? "new" : "";
            cell.replaceChildren(...(isNew ? [make("strong", "badge", say("new"))] : []), make("code", "", short));
          }
          const { key: wanted, name: within = name } = this.pinned || {};
          const isPinned = wanted === keys[key] && within === name && !looks.pinned;
          if (isPinned !== one.isPinned) mark(button, "aria-pressed", isPinned ? "true" : "");
          one.isPinned = isPinned;
          if (isNew) fresh++;
          if (!isNew && !isPinned) continue;
          const look = `${name ? `${name}[${keys[key]}]` : keys[key]}\n${full || short}`;
          if (isPinned) looks.pinned = look;
          if (isNew && name) looks.newest = looks.newest || look;
          else if (isNew && (full || !looks.lastName)) looks.lastName = look;
        }
        const said = [...(fresh ? [make("span", "badge", `${fresh} ${say("new")}`)] : []),
          ...(rows.size ? [] : [make("span", "quiet", ` (${say("empty")})`)])];
        heading.replaceChildren(name || say("names"), ...said);
        ["name", "value"].forEach((word, i) => text(table.rows[0].cells[i], say(word)));
        table.hidden = !rows.size;
        folded.open = !this.closed.has(name) || (fresh && name);
      }
      place.scrollTop = before;
      const row = one("[open] .new", place)?.getBoundingClientRect();
      const frame = place.getBoundingClientRect();
      if (row && row.top < frame.top) place.scrollTop += row.top - frame.top;
      if (row && row.bottom > frame.bottom) place.scrollTop += row.bottom - frame.bottom + 2;
      if (held) one(`[data-key="${held}"]`, place)?.focus({ preventScroll: true });
      text(this.one(".peek"), looks.pinned || looks.newest || looks.lastName);
    }
    newTable(name) {
      const folded = make("details"), heading = make("summary"), table = make("table");
      const head = table.createTBody().insertRow();
      for (const _ of ["name", "value"]) mark(head.appendChild(make("th")), "scope", "col");
      heading.addEventListener("click", () => this.closed[folded.open ? "add" : "delete"](name));
      folded.append(heading, table);
      return { folded, heading, table, rows: new Map() };
    }
    newRow(number, key, name) {
      const row = make("tr"), head = make("th"), cell = make("td");
      const button = make("button", "key", this.facts.keys[key]);
      mark(head, "scope", "row");
      button.dataset.key = `${number}.${key}`;
      button.addEventListener("click", () => this.pin(this.facts.keys[key], name));
      head.append(button);
      row.append(head, cell);
      return { row, cell, button, isPinned: false };
    }
    pin(key, name) {
      const { key: before, name: within } = this.pinned || {};
      this.pinned = before === key && within === name ? null : { key, name };
      this.showTables();
    }
    showSource(which, found) {
      const place = this.one("." + which), frame = one("pre", place);
      place.hidden = !found;
      if (!found) return;
      const piece = this.facts.sources[found[0]], code = one("code", frame);
      const [file, first] = piece.place.split(/:(?=\d+$)/);
      text(one(".place", place), first ? `${file}:${+first + found[1]}` : piece.place);
      code.replaceChildren(...piece.lines.map((line, i) =>
        make("span", i === found[1] ? "here" : "", `${i === found[1] ? "▶" : " "} ${line}\n`)));
      mark(one(".here", code), "aria-current", "true");
      frame.scrollTop = one(".here", code).offsetTop - frame.clientHeight / 2;
    }
  }

  // --- moving -----------------------------------------------------------------------------------

  const sides = data.sides.map((facts, i) => new Side(facts, all(".side")[i], i));

  function go(wanted, silent) {
    wanted = Math.max(0, Math.min(last, wanted));
    const gate = data.gates.find((other) => !other.passed && other.at <= wanted);
    now = gate ? gate.at - 1 : wanted;
    const before = halts.findLast((moment) => moment < now);
    sides.forEach((side, i) => side.go(moments[now][i], before === undefined ? -1 : moments[before][i]));
    const words = `${say("step")} ${now + 1} ${say("of")} ${last + 1}: `
      + sides.map((side) => side.texts[side.at]).join("; ");
    slider.value = now;
    mark(slider, "aria-valuetext", words);
    const place = halts.findIndex((moment) => moment >= now);
    text(one(".count"), `${place + 1} / ${halts.length}`);
    for (const name of ["first", "previous"]) one(`[data-do=${name}]`).disabled = !now;
    for (const name of ["next", "last", "change", "stop"]) {
      one(`[data-do=${name}]`).disabled = now === last;
    }
    for (const part of all(".lanes button")) {
      const { from, to } = part.dataset;
      mark(part, "aria-current", from <= now && now <= to ? "step" : "");
      part.classList.toggle("done", to < now);
    }
    for (const cursor of all(".cursor")) cursor.style.left = `${(now + .5) / (last + 1) * 100}%`;
    showGate(gate);
    if (gate || now === last) pause();
    if (!silent && !timer) text(live, gate ? gate.ask[language] : words);
    if (!isInside && !silent) {
      history.replaceState(null, "", `#step=${now + 1}${language === "en" ? "" : "&zh"}`);
    }
  }
  data.laneOf = (moment) => (data.lanes.find(([, stretches]) =>
    stretches.some(([, from, to]) => from <= moment && moment <= to)) || [""])[0];
  // What a step may be: an op or a call that is done, a depth, a phase, a batch.
  const GRAIN = { act: 0, phase: 1, node: 2, op: 3, detail: 4 };
  const grain = (step) => GRAIN[data.grains[step.kind]] ?? 4;
  const UNITS = {
    all: () => true,
    op: (step) => step.ph !== "B" && [2, 3].includes(grain(step)),
    call: (step) => step.ph !== "B" && (grain(step) === 2 || step.kind === "loss"),
    depth: (step) => step.ph === "E" && (step.kind === "depth" || (grain(step) === 1 && step.kind !== "forward")),
    phase: (step) => step.ph === "E" && grain(step) === 1,
    batch: (step) => step.ph === "E" && ["batch", "function", "epoch"].includes(step.kind),
  };
  let halts = [];
  const moved = (i) => sides.filter((side, s) => !i || moments[i][s] !== moments[i - 1][s])
    .map((side) => side.steps[moments[i][sides.indexOf(side)]]);
  function haltsOf(name) {
    return moments.map((pair, i) => i)
      .filter((i) => !i || i === last || moved(i).some(UNITS[name]));
  }
  function choose(name) {
    unit = name;
    halts = haltsOf(name);
    one("#unit").value = name;
  }
  const counts = Object.fromEntries(Object.keys(UNITS).map((name) => [name, haltsOf(name).length]));
  for (const option of all("#unit option")) option.hidden = option.disabled = counts[option.value] < 3 && option.value !== "all";
  choose(counts[unit] > 2 ? unit : "all");
  one("#unit").addEventListener("change", ({ target }) => { choose(target.value); go(now); });
  function after(test) {
    let i = now + 1;
    while (i < last && !test(i)) i++;
    return i;
  }
  const changes = (i) => sides.some(({ steps }, s) => moments[i][s] !== moments[i - 1][s]
    && (steps[moments[i][s]].changes.length || steps[moments[i][s]].states.length));
  const ACTIONS = {
    first: () => go(0),
    previous: () => go(halts.findLast((moment) => moment < now) ?? 0),
    next: () => go(halts.find((moment) => moment > now) ?? last),
    last: () => go(last),
    change: () => go(after(changes)),
    stop: () => go(after((i) => data.stops.includes(i))),
    play: () => (timer ? pause() : play()),
  };
  function play() {
    if (now === last) go(0, true);
    timer = setInterval(ACTIONS.next, 900);
    sign();
    ACTIONS.next();
  }
  function pause() {
    clearInterval(timer);
    timer = null;
    sign();
  }
  function sign() {
    text(player, timer ? "‖" : "▶");
    mark(player, "aria-label", say(timer ? "pause" : "play"));
  }
  const KEYS = { ArrowLeft: "previous", ArrowRight: "next", Home: "first", End: "last",
    " ": "play", c: "change", s: "stop", p: "play" };
  document.addEventListener("keydown", (event) => {
    const { key, target } = event;
    if (event.ctrlKey || event.metaKey || event.altKey || !target.matches) return;
    if (target.matches("input:not([type=range], [type=radio]), select, pre, .tables")) return;
    if (key.startsWith("Arrow") && target.type === "radio") return;
    if (key === " " && target.matches("button, summary")) return;
    if (!KEYS[key]) return;
    ACTIONS[KEYS[key]]();
    event.preventDefault();
  });
  for (const button of all("[data-do]")) button.addEventListener("click", ACTIONS[button.dataset.do]);
  for (const button of all("[data-go]")) button.addEventListener("click", () => go(+button.dataset.go));
  slider.addEventListener("input", () => go(+slider.value));

  // --- lanes, gates -----------------------------------------------------------------------------

  function showLanes() {
    const place = one(".lanes"), share = 100 / (last + 1);
    place.replaceChildren();
    place.hidden = !data.lanes.length;
    for (const [lane, stretches] of data.lanes) {
      const track = make("div", "track");
      for (const [word, from, to] of stretches) {
        const button = make("button", word, say(word));
        Object.assign(button.dataset, { from, to });
        button.style.cssText = `left:${from * share}%;width:${(to - from + 1) * share}%`;
        button.title = `${say(word)}: ${from + 1}–${to + 1}`;
        mark(button, "aria-label", button.title);
        button.addEventListener("click", () => go(from));
        track.append(button);
      }
      track.append(make("span", "cursor"));
      place.append(make("span", "", say(lane)), track);
    }
  }
  function showGate(gate) {
    const place = one(".gate"), told = gate || data.gates.find((other) => other.at === now);
    const seen = told && `${told.at}${language}${!gate}`;
    place.hidden = !told;
    if (!told || place.dataset.seen === seen) return;
    place.dataset.seen = seen;
    text(one(".ask"), told.ask[language]);
    text(one(".is"), told.answer[language]);
    text(one(".yours"), told.yours ? `${say("said")} ${told.yours}` : "");
    one("form").hidden = !gate;
    one(".answer").hidden = !!gate;
    if (gate && !timer) place.scrollIntoView({ block: "nearest" });
    one(".free").hidden = told.choices.length > 0;
    one(".choices").replaceChildren(...told.choices.map((choice) => {
      const label = make("label", "", ` ${choice[language]}`), input = make("input");
      Object.assign(input, { type: "radio", name: "choice", value: choice[language] });
      label.prepend(input);
      return label;
    }));
  }
  one("form").addEventListener("submit", (event) => {
    event.preventDefault();
    const gate = data.gates.find((other) => !other.passed);
    gate.yours = (one(".choices :checked") || one(".free input")).value.trim();
    gate.passed = true;
    one(".free input").value = "";
    go(gate.at);
    one(".gate").focus();
  });

  // --- copying, the language, the address -------------------------------------------------------

  for (const button of all(".copy")) {
    button.addEventListener("click", () => {
      getSelection().selectAllChildren(one(".commands", button.closest(".side")));
      document.execCommand("copy");
      text(live, say("copied"));
    });
  }
  function speak(wanted) {
    language = wanted;
    document.documentElement.lang = wanted === "zh" ? "zh-Hans" : wanted;
    document.title = data.title[wanted];
    one("#language-" + wanted).checked = true;
    for (const option of all("option")) text(option, option.dataset[wanted]);
    sign();
    showLanes();
    go(now, true);
  }
  for (const radio of all("[name=language]")) {
    radio.addEventListener("change", () => { speak(radio.value); go(now); });
  }
  // A moment that was linked to, or reloaded, is shown: its gates have been passed.
  function recall() {
    const [, step, named] = /(?:step=(\d+))?&?(en|zh)?$/.exec(location.hash);
    if (step) {
      now = Math.max(0, Math.min(last, step - 1));
      for (const gate of data.gates) gate.passed = gate.passed || gate.at <= now;
    }
    return named || (step && "en");
  }
  addEventListener("hashchange", () => speak(recall() || language));
  // A chapter on paper shows the moment; a player by itself shows everything.
  if (!isInside) addEventListener("beforeprint", () => { for (const fold of all("details")) fold.open = true; });
  root.classList.add("runs");
  for (const fold of all("details")) fold.open = false;
  const page = document.documentElement.lang.slice(0, 2), liked = navigator.language.slice(0, 2);
  addEventListener("resize", () => { for (const { picture } of sides) picture?.look(); });
  speak(recall() || (liked === "zh" && !isInside ? liked : page));
  if (!isInside) return;
  root.classList.add("inside");
  // The page around may have begun to listen only now: whenever it speaks, it is told the height.
  const tell = () => parent.postMessage({ height: root.offsetHeight }, "*");
  addEventListener("message", ({ source, data: { language: wanted } }) => {
    if (source !== parent || !data.title[wanted]) return;
    speak(wanted);
    tell();
  });
  new ResizeObserver(tell).observe(root);
})();
