// Plays the steps of one trace, or of two side by side. The step stands in the address: #step=12.
(function () {
  "use strict";
  const data = JSON.parse(document.getElementById("data").textContent);
  const root = document.querySelector(".player");
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
  let language = "en", now = 0, timer = null;
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

  // --- one side: its picture, its tables, its source --------------------------------------------

  class Side {
    constructor(facts, place, number) {
      this.facts = facts;
      this.one = (name) => one(name, place);
      const { words } = facts;
      this.steps = facts.steps.map(([t, ph, depth, kind, label, user, engine, changes, states]) =>
        ({ t, ph, depth, kind: words[kind], label: words[label], user, engine, changes, states }));
      this.texts = all(".steps li", place).map((line) => line.textContent);
      this.lines = all(".steps li", place).map((line, i) => {
        const button = make("button", "plain", line.textContent);
        button.addEventListener("click", () => go(moments.findIndex((pair) => pair[number] >= i)));
        line.replaceChildren(button);
        return button;
      });
      this.items = all(".boxes li", place);
      this.boxes = facts.boxes.map((id, i) => this.box(id, i, place));
      this.closed = new Set(["", "weights"]);
      this.pinned = null;
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
      this.apply(this.facts.startTables, this.facts.startStates);
    }
    // What a change says: [table, key, value], [table, key] to remove, [table] to remove it all.
    apply(changes, states) {
      for (const [table, key, value] of changes) {
        if (key === undefined) { this.tables.delete(table); continue; }
        if (!this.tables.has(table)) this.tables.set(table, new Map());
        if (value === undefined) this.tables.get(table).delete(key);
        else if (key >= 0) this.tables.get(table).set(key, { value, at: this.at });
      }
      for (const [box, state] of states) this.states[box] = state;
    }
    go(step) {
      if (step < this.at) this.reset();
      while (this.at < step) {
        this.at++;
        this.apply(this.steps[this.at].changes, this.steps[this.at].states);
      }
      this.show();
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
    show() {
      const step = this.steps[this.at];
      text(this.one(".said"), this.texts[this.at]);
      const meaning = (data.kinds[step.kind] || {})[language] || "";
      text(this.one(".meaning"), `${meaning} ${say(step.ph)}`);
      text(this.one(".path"), `t=${step.t}   ${this.path()}`);
      this.lines.forEach((line, i) => mark(line, "aria-current", i === this.at ? "step" : ""));
      this.states.forEach((state, i) => {
        const words = say("state" + state), { group, line, words: name } = this.boxes[i];
        text(one(".state", this.items[i]), `${SIGNS[state]} ${words}`);
        text(line, `${SIGNS[state]} ${words}`);
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
    showTables() {
      const place = this.one(".tables"), { tables, keys, values } = this.facts;
      const held = document.activeElement.dataset.key;
      const rank = (number) => ORDER[tables[number]] ?? 5;
      const order = [...this.tables.keys()].sort((a, b) => rank(a) - rank(b) || a - b);
      const before = place.scrollTop;
      let newest = "", lastName = "", pinned = "";
      place.replaceChildren();
      for (const number of order) {
        const name = tables[number], rows = this.tables.get(number);
        const folded = make("details"), heading = make("summary", "", name || say("names"));
        const table = make("table"), head = table.insertRow();
        let fresh = 0;
        for (const word of ["name", "value"]) mark(head.appendChild(make("th", "", say(word))), "scope", "col");
        for (const [key, { value, at }] of rows) {
          const row = table.insertRow(), cell = make("th"), button = make("button", "key", keys[key]);
          const [short, full] = values[value];
          const look = `${name ? `${name}[${keys[key]}]` : keys[key]}\n${full || short}`;
          mark(cell, "scope", "row");
          cell.append(button);
          row.append(cell, make("td"));
          row.lastChild.append(make("code", "", short));
          button.dataset.key = `${number}.${key}`;
          button.addEventListener("click", () => this.pin(keys[key], name));
          if (at === this.at) {
            row.className = "new";
            row.lastChild.prepend(make("strong", "badge", say("new")));
            if (name) newest = newest || look;
            else if (full || !lastName) lastName = look;
            fresh++;
          }
          const { key: wanted, name: within = name } = this.pinned || {};
          if (wanted === keys[key] && within === name && !pinned) {
            pinned = look;
            mark(button, "aria-pressed", "true");
          }
        }
        if (fresh) heading.append(make("span", "badge", `${fresh} ${say("new")}`));
        if (!rows.size) heading.append(make("span", "quiet", ` (${say("empty")})`));
        folded.open = !this.closed.has(name) || (fresh && name);
        heading.addEventListener("click", () => this.closed[folded.open ? "add" : "delete"](name));
        folded.append(heading, ...(rows.size ? [table] : []));
        place.append(folded);
      }
      place.scrollTop = before;
      const row = one("[open] .new", place)?.getBoundingClientRect();
      const frame = place.getBoundingClientRect();
      if (row && row.top < frame.top) place.scrollTop += row.top - frame.top;
      if (row && row.bottom > frame.bottom) place.scrollTop += row.bottom - frame.bottom + 2;
      if (held) one(`[data-key="${held}"]`, place)?.focus({ preventScroll: true });
      text(this.one(".peek"), pinned || newest || lastName);
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
    sides.forEach((side, i) => side.go(moments[now][i]));
    const words = `${say("step")} ${now + 1} ${say("of")} ${last + 1}: `
      + sides.map((side) => side.texts[side.at]).join("; ");
    slider.value = now;
    mark(slider, "aria-valuetext", words);
    text(one(".count"), `${now + 1} / ${last + 1}`);
    one("[data-do=previous]").disabled = !now;
    for (const name of ["next", "play", "change", "stop"]) {
      one(`[data-do=${name}]`).disabled = now === last;
    }
    for (const part of all(".lanes button")) {
      const { from, to } = part.dataset;
      mark(part, "aria-current", from <= now && now <= to ? "step" : "");
    }
    for (const cursor of all(".cursor")) cursor.style.left = `${(now + .5) / (last + 1) * 100}%`;
    showGate(gate);
    if (gate || now === last) pause();
    if (!silent && !timer) text(live, gate ? gate.ask[language] : words);
    if (!isInside && !silent) {
      history.replaceState(null, "", `#step=${now + 1}${language === "en" ? "" : "&zh"}`);
    }
  }
  function after(test) {
    let i = now + 1;
    while (i < last && !test(i)) i++;
    return i;
  }
  const changes = (i) => sides.some(({ steps }, s) => moments[i][s] !== moments[i - 1][s]
    && (steps[moments[i][s]].changes.length || steps[moments[i][s]].states.length));
  const ACTIONS = {
    previous: () => go(now - 1),
    next: () => go(now + 1),
    change: () => go(after(changes)),
    stop: () => go(after((i) => data.stops.includes(i))),
    play: () => (timer ? pause() : play()),
  };
  function play() {
    timer = setInterval(ACTIONS.next, 900);
    text(player, say("pause"));
    go(now + 1);
  }
  function pause() {
    clearInterval(timer);
    timer = null;
    text(player, say("play"));
  }
  const KEYS = { ArrowLeft: "previous", ArrowRight: "next", c: "change", s: "stop", p: "play" };
  root.addEventListener("keydown", (event) => {
    const { key, target } = event;
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (target.matches("input:not([type=range]), pre, .picture, .tables")) return;
    if (key === "Home") go(0);
    else if (key === "End") go(last);
    else if (KEYS[key]) ACTIONS[KEYS[key]]();
    else return;
    event.preventDefault();
  });
  for (const button of all("[data-do]")) button.addEventListener("click", ACTIONS[button.dataset.do]);
  for (const button of all("[data-go]")) button.addEventListener("click", () => go(+button.dataset.go));
  slider.addEventListener("input", () => go(+slider.value));

  // --- lanes, gates -----------------------------------------------------------------------------

  function showLanes() {
    data.lanes.forEach((lanes, s) => {
      const place = sides[s].one(".lanes"), share = 100 / (last + 1);
      place.replaceChildren();
      place.hidden = !lanes.length;
      for (const [lane, stretches] of lanes) {
        const track = make("div", "track");
        for (const [word, from, to] of stretches) {
          const button = make("button", word, say(word));
          Object.assign(button.dataset, { from, to });
          button.style.cssText = `left:${from * share}%;width:${(to - from + 1) * share}%`;
          button.title = `${say(word)}: ${from + 1}–${to + 1}`;
          button.addEventListener("click", () => go(from));
          track.append(button);
        }
        track.append(make("span", "cursor"));
        place.append(make("span", "", say(lane)), track);
      }
    });
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
    text(player, say(timer ? "pause" : "play"));
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
