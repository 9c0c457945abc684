// Search for layers by name, class, id and shape, also inside closed frames.

const MANY_BOXES = 2000; // above this, a search waits for a pause in typing
const TYPING_PAUSE = 300; // milliseconds
const SEARCHED = ["class_name", "layer", "activation", "input_shapes", "output_shapes", "detail"];

class Search {
  constructor(viewers, field, count) {
    this.viewers = viewers;
    this.field = field;
    this.count = count;
    this.hits = []; // [viewer, number of a box]
    this.place = -1;
    this.texts = new Map();
    this.before = null; // the frames that were closed when the search began
    field.addEventListener("input", () => this._typed());
    field.addEventListener("keydown", (event) => this._key(event));
  }

  clear() {
    this.field.value = "";
    this._begin();
  }

  _typed() {
    clearTimeout(this.timer);
    const boxes = this.viewers.reduce((sum, { graph }) => sum + graph.count, 0);
    if (boxes < MANY_BOXES) this._begin();
    else this.timer = setTimeout(() => this._begin(), TYPING_PAUSE);
  }

  _begin() {
    clearTimeout(this.timer);
    this.timer = null;
    const query = this.field.value.trim().toLowerCase();
    if (!query) {
      [this.hits, this.place, this.before] = [[], -1, null];
      this.count.textContent = "";
      this._mark();
      return;
    }
    this.before ||= new Map(this.viewers.map((viewer) => [viewer, new Set(viewer.closed)]));
    this.hits = this.viewers.flatMap((viewer) =>
      this._find(viewer, query).map((number) => [viewer, number]));
    this.place = -1;
    this.step(1);
  }

  /** Go to the next or the previous hit. */
  step(steps) {
    const { hits } = this;
    if (!hits.length) {
      this.count.textContent = this.field.value.trim() ? said("nothing found") : "";
      this._mark();
      return;
    }
    this.place = (this.place + steps + hits.length) % hits.length;
    this.count.textContent = `${this.place + 1} ${said("of")} ${hits.length}`;
    const [viewer, number] = hits[this.place];
    viewer.reveal(number, this.before.get(viewer));
    this._mark();
  }

  /** Mark the hit in its picture, and remove marks in others. */
  _mark() {
    const [found, number] = this.hits[this.place] || [];
    for (const viewer of this.viewers) viewer.mark(viewer === found ? number : -1);
  }

  /** Return the boxes that match a query: exact names first, then in the order of the graph. */
  _find({ graph }, query) {
    if (!this.texts.has(graph)) this.texts.set(graph, graph.boxes.map(searchText));
    const isExact = ({ id, label }) => [id, label].some((name) => name.toLowerCase() === query);
    const found = this._containing(graph, [query]);
    const hits = found.length ? found : this._containing(graph, query.split(/\s+/));
    const sorted = [...hits.filter(isExact), ...hits.filter((box) => !isExact(box))];
    return sorted.map((box) => box.number);
  }

  _containing(graph, words) {
    const texts = this.texts.get(graph);
    return graph.boxes.filter(({ number }) => words.every((word) => texts[number].includes(word)));
  }

  _key(event) {
    if (event.key === "Enter") {
      event.preventDefault();
      if (this.timer) this._begin();
      else this.step(event.shiftKey ? -1 : 1);
    } else if (event.key === "Escape") {
      event.stopPropagation();
      const hit = this.hits[this.place];
      this.clear();
      if (hit !== undefined) hit[0].focus(hit[1]);
      else this.field.blur();
    }
  }
}

function searchText(box) {
  const facts = SEARCHED.map((key) => box.attributes[key] || "");
  return [box.id, box.label, ...facts].join("\n").toLowerCase();
}
