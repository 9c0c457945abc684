// The page: which frames are open, which box is chosen, and what every key and button does.

class Viewer {
  constructor(graph) {
    const find = (id) => document.getElementById(id);
    this.graph = graph;
    this.panel = find("details");
    this.help = find("help");
    this.root = find("picture");
    this.startClosed = new Set(graph.closed);
    this.closed = new Set(graph.closed);
    this.rankdir = graph.rankdir;
    this.selected = -1;
    this.marked = -1;
    this.current = -1; // the one thing that Tab leads to
    this.theme = graph.theme;
    this.picture = new (graph.isLadder ? LadderPicture : Picture)(graph, this.root);
    this.view = new View(find("canvas"), this.root);
    this.search = new Search(this, find("search"), find("count"));
    this._listen();
    this._setTheme();
    this.update();
    this._showStart();
  }

  // --- what is open ------------------------------------------------------------------------------

  /** Lay out and draw what is open now. */
  update() {
    const hadFocus = this.root.contains(document.activeElement);
    const showing = new Showing(this.graph, this.closed);
    const { isLadder } = this.graph;
    const places = isLadder ? arrangeLadder(showing) : arrange(showing, this.rankdir);
    this.showing = showing;
    this.picture.draw(showing, places, this.rankdir);
    this.view.resize(places);
    this.selected = this._shown(this.selected);
    this.marked = this._shown(this.marked);
    this._setCurrent(this._shown(this.current));
    if (hadFocus && this.current >= 0) this._element(this.current).focus({ preventScroll: true });
    this._showChoice();
    const shown = countText(places.boxes.size, "box", "boxes");
    const isAll = places.boxes.size >= this.graph.count;
    const all = isAll ? "" : ` for ${this.graph.count.toLocaleString("en")}`;
    document.getElementById("status").textContent = shown + all;
  }

  /** Open a closed frame, or close an open one. */
  toggle(number) {
    if (number < this.graph.count) return;
    const group = number - this.graph.count;
    const opens = this.closed.has(group);
    for (const one of this.graph.groups[group].family) {
      if (opens) this.closed.delete(one);
      else this.closed.add(one);
    }
    this.update();
    const what = this.closed.has(group) ? "closed" : "opened";
    this._announce(`${this.graph.boxes[number].label} ${what}`);
  }

  /** Open or close everything. */
  setClosed(closed) {
    this.closed = new Set(closed);
    this.update();
    this._showStart();
  }

  /** Show the first box at a size that can be read. */
  _showStart() {
    this.view.fitWidth();
    const first = this._endBox(true);
    if (first >= 0) this.view.show(this.picture.rectOf(first));
  }

  /** Open all frames around a box, and show it; other frames are as in `closed`. */
  reveal(number, closed = this.closed) {
    const wanted = new Set(closed);
    for (const group of groupsAround(this.graph, number))
      for (const one of this.graph.groups[group].family) wanted.delete(one);
    const isSame = wanted.size === this.closed.size && [...wanted].every((g) => this.closed.has(g));
    if (!isSame) {
      this.closed = wanted;
      this.update();
    }
    this._setCurrent(number);
    this.view.show(this.picture.rectOf(number), !isSame);
  }

  /** Return what stands for a box now: itself or the closed frame around it. */
  _shown(number) {
    return number < 0 ? -1 : this.showing.boxFor(number);
  }

  // --- what is chosen ----------------------------------------------------------------------------

  select(number) {
    this.selected = number;
    this._showChoice();
  }

  /** Choose a box wherever it is, and go there. */
  goTo(number) {
    this.reveal(number);
    this.focus(number);
    this.select(number);
  }

  /** Mark a hit of the search. */
  mark(number) {
    this.marked = number;
    this._showChoice();
  }

  focus(number) {
    this._setCurrent(number);
    this._element(number).focus({ preventScroll: true });
    this.view.show(this.picture.rectOf(number));
  }

  _showChoice() {
    this.picture.choose(this.selected, this.marked);
    if (this.selected >= 0) showDetails(this, this.panel, this.selected);
    else this.panel.hidden = true;
  }

  _setCurrent(number) {
    const { elements } = this.picture;
    const wanted = elements.has(number) ? number : elements.keys().next().value;
    if (this._currentElement) this._currentElement.setAttribute("tabindex", "-1");
    this.current = wanted === undefined ? -1 : wanted;
    this._currentElement = elements.get(this.current);
    if (this._currentElement) this._currentElement.setAttribute("tabindex", "0");
  }

  _element(number) {
    return this.picture.elements.get(number);
  }

  _announce(text) {
    document.getElementById("spoken").textContent = text;
  }

  // --- what happens ------------------------------------------------------------------------------

  _listen() {
    const actions = {
      "expand-all": () => this.setClosed([]),
      "collapse": () => this.setClosed(this._closedAtFirst()),
      "zoom-in": () => this.view.zoomBy(1),
      "zoom-out": () => this.view.zoomBy(-1),
      "fit": () => this.view.fit(),
      "turn": () => this._turn(),
      "theme": () => this._nextTheme(),
      "show-help": () => this.help.showModal(),
    };
    for (const [id, action] of Object.entries(actions)) {
      document.getElementById(id).addEventListener("click", action);
    }
    for (const id of ["expand-all", "collapse"]) {
      document.getElementById(id).hidden = !this.graph.groups.length;
    }
    document.getElementById("turn").hidden = this.graph.isLadder; // its rails run downward
    // Not to the SVG: browsers then take it for something that can have the focus itself.
    const canvas = document.getElementById("canvas");
    canvas.addEventListener("click", (event) => this._act(this._numberAt(event)));
    canvas.addEventListener("focusin", (event) => this._setCurrent(this._numberAt(event)));
    document.addEventListener("keydown", (event) => this._key(event));
    const dark = matchMedia("(prefers-color-scheme: dark)");
    dark.addEventListener("change", () => this._setTheme());
    addEventListener("beforeprint", () => this._setTheme("light"));
    addEventListener("afterprint", () => this._setTheme());
  }

  /** Return what was closed at first; if that is nothing, all groups. */
  _closedAtFirst() {
    if (this.startClosed.size) return this.startClosed;
    return this.graph.groups.map((group) => group.index);
  }

  _numberAt(event) {
    const element = event.target.closest("[role=button]");
    for (const [number, other] of this.picture.elements) if (other === element) return number;
    return -1;
  }

  /** Choose a thing, and open or close it if it can; it stays where it is on the screen. */
  _act(number) {
    if (number < 0) {
      this.select(-1);
      return;
    }
    const before = this.view.onScreen(this.picture.rectOf(number));
    this._setCurrent(number);
    this._element(number).focus({ preventScroll: true });
    this.select(number);
    this.toggle(number);
    this.view.keep(this.picture.rectOf(number), before);
  }

  _key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || this.help.open) return;
    if (event.key === "Escape") {
      this.select(-1);
      this.search.clear();
      return;
    }
    if (/^(INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName)) return;
    const isInPicture = this.root.contains(event.target);
    if (this._pageKey(event.key) || (isInPicture && this._pictureKey(event.key))) {
      event.preventDefault();
    }
  }

  _pageKey(key) {
    if (key === "/") document.getElementById("search").select();
    else if (key === "?") this.help.showModal();
    else if (key === "+" || key === "=") this.view.zoomBy(1);
    else if (key === "-") this.view.zoomBy(-1);
    else if (key === "0") this.view.fit();
    else return false;
    return true;
  }

  _pictureKey(key) {
    if (key === "Enter" || key === " ") this._act(this.current);
    else if (key === "Backspace") this._closeAround();
    else if (key === "Home" || key === "End") this.focus(this._endBox(key === "Home"));
    else if (key.startsWith("Arrow")) {
      const next = nextThing(this, this.current, key);
      if (next >= 0) this.focus(next);
    } else return false;
    return true;
  }

  _closeAround() {
    const parent = this.graph.boxes[this.current].parent;
    if (parent >= 0) this.toggle(this.graph.count + parent);
  }

  /** Return the first box of the picture, or the last; -1 if there is none. */
  _endBox(isFirst) {
    let [best, least] = [-1, Infinity];
    for (const [number, { x, y }] of this.picture.places.boxes) {
      const [along, across] = this.rankdir === "LR" ? [x, y] : [y, x];
      const place = isFirst ? along + across / 1e6 : -along;
      if (place < least) [best, least] = [number, place];
    }
    return best;
  }

  // --- how it looks ------------------------------------------------------------------------------

  _turn() {
    this.rankdir = this.rankdir === "TB" ? "LR" : "TB";
    this.update();
    this._showStart();
  }

  _nextTheme() {
    this.theme = document.documentElement.dataset.theme === "dark" ? "light" : "dark";
    this._setTheme();
  }

  _setTheme(wanted = this.theme) {
    const isDark = matchMedia("(prefers-color-scheme: dark)").matches;
    const theme = wanted === "auto" ? (isDark ? "dark" : "light") : wanted;
    document.documentElement.dataset.theme = theme;
    this.root.setAttribute("class", `kerascope ${theme}`);
    const other = theme === "dark" ? "Light" : "Dark";
    document.getElementById("theme").textContent = other;
  }
}

const viewer = new Viewer(readGraph(JSON.parse(document.getElementById("graph").textContent)));
globalThis.kerascopeViewer = viewer;
