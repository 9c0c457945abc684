// Search: layers by name, class, id and shape, also where they are hidden in closed frames.

const MANY_BOXES = 2000; // beyond, a search waits until nobody types
const TYPING_PAUSE = 300; // milliseconds
const SEARCHED = ["class_name", "layer", "activation", "input_shapes", "output_shapes", "detail"];

class Search {
  constructor(viewer, field, count) {
    this.viewer = viewer;
    this.field = field;
    this.count = count;
    this.hits = [];
    this.place = -1;
    this.texts = null;
    this.before = null; // which frames were closed when the search began
    field.addEventListener("input", () => this._typed());
    field.addEventListener("keydown", (event) => this._key(event));
  }

  clear() {
    this.field.value = "";
    this._begin();
  }

  _typed() {
    clearTimeout(this.timer);
    if (this.viewer.graph.count < MANY_BOXES) this._begin();
    else this.timer = setTimeout(() => this._begin(), TYPING_PAUSE);
  }

  _begin() {
    clearTimeout(this.timer);
    this.timer = null;
    const query = this.field.value.trim().toLowerCase();
    if (!query) {
      [this.hits, this.place, this.before] = [[], -1, null];
      this.count.textContent = "";
      this.viewer.mark(-1);
      return;
    }
    if (!this.before) this.before = new Set(this.viewer.closed);
    this.hits = this._find(query);
    this.place = -1;
    this.step(1);
  }

  /** Go to the next hit, or the one before. */
  step(steps) {
    const { hits } = this;
    if (!hits.length) {
      this.count.textContent = this.field.value.trim() ? "nothing found" : "";
      this.viewer.mark(-1);
      return;
    }
    this.place = (this.place + steps + hits.length) % hits.length;
    this.count.textContent = `${this.place + 1} of ${hits.length}`;
    this.viewer.reveal(hits[this.place], this.before);
    this.viewer.mark(hits[this.place]);
  }

  /** Return the boxes that a query means: exact names first, then in the order of the graph. */
  _find(query) {
    this.texts ||= this.viewer.graph.boxes.map(searchText);
    const isExact = ({ id, label }) => [id, label].some((name) => name.toLowerCase() === query);
    const found = this._containing([query]);
    const hits = found.length ? found : this._containing(query.split(/\s+/));
    const sorted = [...hits.filter(isExact), ...hits.filter((box) => !isExact(box))];
    return sorted.map((box) => box.number);
  }

  _containing(words) {
    const { boxes } = this.viewer.graph;
    return boxes.filter(({ number }) => words.every((word) => this.texts[number].includes(word)));
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
      if (hit !== undefined) this.viewer.focus(hit);
      else this.field.blur();
    }
  }
}

function searchText(box) {
  const facts = SEARCHED.map((key) => box.attributes[key] || "");
  return [box.id, box.label, ...facts].join("\n").toLowerCase();
}
