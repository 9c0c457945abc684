// Plays the steps of one trace, or of two side by side. The address contains the step: #step=12.

const data = JSON.parse(document.getElementById("data").textContent);
const root = document.querySelector(".player");
const one = (name, place = root) => place.querySelector(name);
const all = (name, place = root) => [...place.querySelectorAll(name)];
const SIGNS = ["○", "▶", "●", "◂", "✗"];
const [TODO, NOW, , , FAILED] = SIGNS.keys();
// Boxes that are done from the start. They do not affect the state of a frame.
const THERE = ["placeholder", "variable", "constant", "slot", "input"];
const ORDER = { tensor_map: 0, grads: 1, updates: 2, weights: 8, "": 9 };
const INFO = { tensor_map: "tensors", grads: "grads", updates: "updates", weights: "weights",
  nodes_depths: "depths", nodes_in_decreasing_depth: "seen" };
const moments = data.moments || data.sides[0].steps.map((step, i) => [i]);
const last = moments.length - 1;
const slider = one("#moment"), live = one(".live"), player = one("[data-do=play]");
const isInside = parent !== window;
const quiet = matchMedia("(prefers-reduced-motion: reduce)");
let language = "en", now = data.start, timer = null, unit = data.unit || "all";
function say(word) {
  return data.say[word][language];
}
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

// --- one side: its picture, its tables, its source --------------------------------------------

class Side {
  constructor(facts, place, number) {
    this.facts = facts;
    this.one = (name) => one(name, place);
    const { words } = facts;
    this.steps = facts.steps.map(
      ([t, ph, depth, kind, label, user, engine, changes, states, focus, flows, caption]) => ({
        t, ph, depth, kind: words[kind], label: words[label], user, engine, changes, states, focus,
        flows, caption,
      }),
    );
    this.texts = all(".steps li", place).map((line) => line.textContent);
    this.lines = all(".steps li", place).map((line, i) => {
      const button = make("button", "plain", line.textContent);
      button.addEventListener("click", () => go(moments.findIndex((pair) => pair[number] >= i)));
      line.replaceChildren(button);
      return button;
    });
    this.pinned = null;
    this.drawn = new Map(); // the tables that are there, with their rows: most stay as they are
    this.line = null; // the step that is marked in the list
    this.viewer = facts.graph ? this.newViewer(place) : null;
    this.flowing = this.viewer ? new Flows(this.viewer, isInside) : null;
    this.flowing?.compare([{ flows: facts.startFlows }, ...this.steps]);
    this.closed = new Set(["", "weights"]);
    this.reset();
  }
  // The picture, which the page draws and the steps update.
  newViewer(place) {
    const { graph: stored } = this.facts, frame = one(".canvas", place), old = one("svg", frame);
    frame.classList.add("moving");
    old.replaceWith(svg("svg", { id: old.id, class: "graph kerascope light", role: "group",
      "aria-label": old.getAttribute("aria-label") }));
    const graph = readGraph(stored);
    this.moving = this.movingBoxes(graph);
    return new Viewer(graph, place, {
      // Horizontal layouts already have enough padding.
      widen: (places, rankdir) =>
        roomy(places, rankdir === "LR" ? { ...graph.room, least: 0 } : graph.room),
      updated: () => this.opened(),
      selected: (number) => { if (number >= 0) this.pin(graph.boxes[number].id, undefined, true); },
    });
  }
  // The boxes whose state changes at some step, without those that are done from the start.
  movingBoxes({ boxes }) {
    const found = new Set(this.steps.flatMap(({ states }) => states.map(([number]) => number)));
    return boxes.map(({ number, style }) => found.has(number) && !THERE.includes(style.kind));
  }
  // A frame was opened or closed, so boxes have changed and moved.
  opened() {
    if (!this.flowing) return;
    this.listBoxes();
    this.flowing.again();
    this.showStates();
  }
  listBoxes() {
    const { picture, graph } = this.viewer, lines = [];
    this.told = new Map(); // the words of each box's state
    this.items = new Map();
    for (const [number, element] of picture.elements) {
      if (!picture.places.boxes.has(number)) continue;
      const button = make("button", "", tooltipOf(graph.boxes[number])), line = make("li");
      button.addEventListener("click", () => this.viewer.select(number));
      line.append(button, " ", make("span", "state"));
      lines.push(line);
      const base = element.getAttribute("aria-label");
      let words = null, label = (state) => `${base}: ${state}`;
      if (graph.boxes[number].attributes.line === undefined) { // a cell has no room for words
        const { text: room } = graph.boxes[number].marks.at(-1);
        label = (state) => base.replace(`, ${room}`, `, ${state}`);
        words = this.stateLine(all("text.mark", element).at(-1));
      }
      this.items.set(number, { element, line, label, words });
    }
    one(".listed", this.viewer.panel.parentElement).replaceChildren(...lines);
  }
  // The line of a box for the words of its state. Its middle does not move.
  stateLine(words) {
    if (words.classList.contains("state")) return words;
    const middle = +words.getAttribute("x") + +words.getAttribute("textLength") / 2;
    words.classList.add("state");
    words.setAttribute("x", middle);
    words.setAttribute("text-anchor", "middle");
    for (const name of ["textLength", "lengthAdjust"]) words.removeAttribute(name);
    return words;
  }
  reset() {
    this.at = -1;
    this.tables = new Map();
    this.states = this.viewer ? this.viewer.graph.boxes.map(() => TODO) : [];
    this.flows = new Map();
    this.apply(this.facts.startTables, this.facts.startStates, this.facts.startFlows);
  }
  // Changes: [table, key, value] sets, [table, key] removes, [table] removes the table.
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
  // Values that changed after the step `since` are marked as new.
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
  // The sentence of a step. Text between stars is bold.
  tell(place, lane) {
    const [key, ...words] = this.steps[this.at].caption;
    const word = (_, i) => (words[i] ?? "").replaceAll("*", "∗");
    const filled = data.sentences[key][language].replace(/\{(\d)\}/g, word);
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
    this.flowing?.show(this.flows, this.since, step.focus, moving && !timer && !quiet.matches);
    text(this.one(".said"), this.texts[this.at]);
    const meaning = (data.kinds[step.kind] || {})[language] || "";
    text(this.one(".meaning"), `${meaning} ${say(step.ph)}`);
    text(this.one(".path"), `t=${step.t}   ${this.path()}`);
    if (this.line) mark(this.line, "aria-current", "");
    this.line = this.lines[this.at];
    mark(this.line, "aria-current", "step");
    if (this.viewer) this.showStates();
    this.showTables();
    for (const which of ["user", "engine"]) this.showSource(which, step[which]);
    this.one(".no-source").hidden = !!(step.user || step.engine);
    const changed = new Set(step.changes.map(([table]) => INFO[this.facts.tables[table]]));
    const told = [...changed].filter(Boolean).map((name) => `\ninfo ${name}`);
    text(this.one(".commands"), `goto ${step.t}${told.join("")}`);
  }
  showStates() {
    const frames = this.framesNow();
    for (const [number, { element, line, label, words: place }] of this.items) {
      const state = this.states[number] || (frames.has(number) ? frames.get(number) : TODO);
      const words = say("state" + state);
      if (this.told.get(number) === words) continue;
      this.told.set(number, words);
      text(one(".state", line), `${SIGNS[state]} ${words}`);
      if (place) text(place, `${SIGNS[state]} ${words}`);
      element.dataset.state = state;
      mark(element, "aria-label", label(words));
    }
  }
  // The states of closed frames, from those inside: "now" while only some are done. A card,
  // whose lines depend on each other, has the state of its most advanced line.
  framesNow() {
    const { graph, showing } = this.viewer, held = new Map(), found = new Map();
    this.states.forEach((state, number) => {
      const stand = showing.boxFor(number);
      if (stand === number || (!this.moving[number] && ![NOW, FAILED].includes(state))) return;
      if (!held.has(stand)) held.set(stand, new Set());
      held.get(stand).add(state);
    });
    for (const [number, states] of held) {
      const isCard = graph.boxes[number].style.kind === "card";
      const isNow = states.has(NOW) || (states.has(TODO) && states.size > 1 && !isCard);
      found.set(number, states.has(FAILED) ? FAILED : isNow ? NOW : Math.max(...states));
    }
    return found;
  }
  // Only changed rows are made again, because a large net has thousands of rows.
  showTables() {
    const place = this.one(".tables"), { tables, keys, values } = this.facts;
    const held = document.activeElement.dataset.key;
    const rank = (number) => ORDER[tables[number]] ?? 5;
    const order = [...this.tables.keys()].sort((a, b) => rank(a) - rank(b) || a - b);
    // Restore the scroll position of the reader. New values only stay in view for one step.
    const before = place.scrollTop === this.scrolled?.to ? this.scrolled.from : place.scrollTop;
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
    const above = one("[open]:has(.new) summary", place)?.offsetHeight || 0; // it stays in view
    if (row && row.top < frame.top + above) place.scrollTop += row.top - frame.top - above;
    if (row && row.bottom > frame.bottom) place.scrollTop += row.bottom - frame.bottom + 2;
    this.scrolled = { from: before, to: place.scrollTop };
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
  pin(key, name, stays) {
    const { key: before, name: within } = this.pinned || {};
    this.pinned = before === key && within === name && !stays ? null : { key, name };
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
const viewers = sides.map(({ viewer }) => viewer).filter(Boolean);
const MOVES = ["ArrowLeft", "ArrowRight", "Home", "End", " "];
const tools = new Tools(viewers, data.theme, MOVES);
one(".tools").hidden = !viewers.length;
globalThis.kerascopeViewer = viewers[0];
for (const side of sides) side.viewer && side.listBoxes();

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
  showDifference();
  for (const cursor of all(".cursor")) cursor.style.left = `${(now + .5) / (last + 1) * 100}%`;
  showGate(gate);
  if (gate || now === last) pause();
  if (!silent && !timer) text(live, gate ? gate.ask[language] : words);
  if (!isInside && !silent) {
    history.replaceState(null, "", `#step=${now + 1}${language === "en" ? "" : "&zh"}`);
  }
}
// Whether the results of two sides are still equal at this moment.
function showDifference() {
  const place = one(".differing"), { differs } = data;
  if (!place) return;
  one("[data-do=differs]").disabled = differs === null || now === differs;
  root.classList.toggle("differs", differs !== null && now >= differs);
  const word = differs === null ? "never" : now < differs ? "equal" : now === differs ? "here" : "since";
  const number = `${differs + 1}${language === "zh" ? " 步。" : "."}`;
  text(place, word === "since" ? `${say(word)} ${number}` : say(word));
}
data.laneOf = (moment) => (data.lanes.find(([, stretches]) =>
  stretches.some(([, from, to]) => from <= moment && moment <= to)) || [""])[0];
// The units of a step: a finished op or call, a depth, a phase, a batch.
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
  differs: () => go(data.differs ?? now),
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
  if (event.ctrlKey || event.metaKey || event.altKey || !target.matches || tools.help.open) return;
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
    if (data.differs !== null) {
      const place = track.appendChild(make("span", "parting"));
      place.style.left = `${(data.differs + .5) * share}%`;
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
  SPEECH.words = data.translated[wanted] || null;
  tools.showTheme();
  for (const { viewer } of sides) viewer?.speak();
  sign();
  showLanes();
  go(now, true);
}
for (const radio of all("[name=language]")) {
  radio.addEventListener("change", () => { speak(radio.value); go(now); });
}
// A moment from a link or a reload is shown without its gates.
function recall() {
  const [, step, named] = /(?:step=(\d+))?&?(en|zh)?$/.exec(location.hash);
  if (step) {
    now = Math.max(0, Math.min(last, step - 1));
    for (const gate of data.gates) gate.passed = gate.passed || gate.at <= now;
  }
  return named || (step && "en");
}
addEventListener("hashchange", () => speak(recall() || language));
// A printed chapter shows the moment. A printed player shows everything.
if (!isInside) addEventListener("beforeprint", () => { for (const fold of all("details")) fold.open = true; });
root.classList.add("runs");
for (const fold of all("details")) fold.open = false;
const page = document.documentElement.lang.slice(0, 2), liked = navigator.language.slice(0, 2);
addEventListener("theme", () => { for (const { flowing } of sides) flowing?.again(); });
addEventListener("resize", () => { for (const { flowing } of sides) flowing?.look(); });
speak(recall() || (liked === "zh" && !isInside ? liked : page));
if (!isInside) return;
root.classList.add("inside");
// The enclosing page may listen late, so each of its messages is answered with the height.
const tell = () => parent.postMessage({ height: root.offsetHeight }, "*");
addEventListener("message", ({ source, data: { language: wanted } }) => {
  if (source !== parent || !data.title[wanted]) return;
  speak(wanted);
  tell();
});
new ResizeObserver(tell).observe(root);
