// One picture of the page: its open frames and its selected box.

class Viewer {
  /**
   * Draws a graph into its element, `.side`. `also` may contain callbacks of the page:
   * `widen(places)` reserves space, `updated()` is called after each drawing, and
   * `selected(number)` after each selection.
   */
  constructor(graph, place, also = {}) {
    const find = (name) => place.querySelector(name);
    this.graph = graph;
    this.also = also;
    this.panel = find(".details");
    this.root = find("svg.graph");
    this.startClosed = new Set(graph.closed);
    this.closed = new Set(graph.closed);
    this.rankdir = graph.rankdir;
    this.selected = -1;
    this.marked = -1;
    this.current = -1; // the element that Tab reaches
    this.picture = new (graph.isLadder ? LadderPicture : Picture)(graph, this.root);
    this.view = new View(find(".canvas"), this.root);
    this._listen();
    this.update();
    this.showStart();
  }

  // --- open frames -------------------------------------------------------------------------------

  /** Compute the layout with the current open frames, and draw it. */
  update() {
    const hadFocus = this.root.contains(document.activeElement);
    const showing = new Showing(this.graph, this.closed);
    const { isLadder } = this.graph;
    const drawn = isLadder ? arrangeLadder(showing) : arrange(showing, this.rankdir);
    const places = this.also.widen ? this.also.widen(drawn, this.rankdir) : drawn;
    this.showing = showing;
    this.picture.draw(showing, places, this.rankdir);
    this.view.resize(places);
    this.selected = this._shown(this.selected);
    this.marked = this._shown(this.marked);
    this._setCurrent(this._shown(this.current));
    if (hadFocus && this.current >= 0) this._element(this.current).focus({ preventScroll: true });
    this._showChoice();
    this.also.updated?.();
    this.tools?.showStatus();
  }

  /** Return a text with the number of visible boxes and of all boxes. */
  status() {
    const { size } = this.picture.places.boxes;
    const shown = countText(size, "box", "boxes");
    if (size >= this.graph.count) return shown;
    return `${shown} ${said("for")} ${this.graph.count.toLocaleString("en")}`;
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
    const what = said(this.closed.has(group) ? "closed" : "opened");
    this.tools?.announce(`${this.graph.boxes[number].label} ${what}`);
  }

  /** Open or close all frames. */
  setClosed(closed) {
    this.closed = new Set(closed);
    this.update();
    this.showStart();
  }

  /** Show the first box at a readable size. */
  showStart() {
    this.view.fitWidth();
    const first = this._endBox(true);
    if (first >= 0) this.view.show(this.picture.rectOf(first));
  }

  /** Open all frames around a box, and show it; other frames are closed as in `closed`. */
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

  /** Return the visible box for a box: the box itself, or the closed frame around it. */
  _shown(number) {
    return number < 0 ? -1 : this.showing.boxFor(number);
  }

  // --- the selection -----------------------------------------------------------------------------

  select(number) {
    this.selected = number;
    this._showChoice();
    this.also.selected?.(number);
  }

  /** Select a box, opening the frames around it, and scroll to it. */
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

  // --- events ------------------------------------------------------------------------------------

  _listen() {
    // Not on the SVG, since browsers would then let it have the focus.
    const { canvas } = this.view;
    canvas.addEventListener("click", (event) => this._act(this._numberAt(event)));
    canvas.addEventListener("focusin", (event) => this._setCurrent(this._numberAt(event)));
  }

  /** Return the groups that were closed at first, or all groups if none were. */
  closedAtFirst() {
    if (this.startClosed.size) return this.startClosed;
    return this.graph.groups.map((group) => group.index);
  }

  _numberAt(event) {
    const element = event.target.closest("[role=button]");
    for (const [number, other] of this.picture.elements) if (other === element) return number;
    return -1;
  }

  /** Select a box or frame, and open or close it if possible; it stays in place on the screen. */
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

  /** Handle a key inside the picture; return whether the key has a meaning. */
  key(key) {
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

  /** Write all texts again, in the current language. */
  speak() {
    this.picture.drawnBoxes.clear();
    this.update();
  }

  turn() {
    this.rankdir = this.rankdir === "TB" ? "LR" : "TB";
    this.update();
    this.showStart();
  }
}
