// The visible section: zoom with buttons or Ctrl and the wheel, move by scrolling or dragging.

const LEAST_ZOOM = 0.02;
const MOST_ZOOM = 4;
const ZOOM_STEP = 1.25;

class View {
  constructor(canvas, root) {
    this.canvas = canvas;
    this.root = root;
    this.zoom = 1;
    this.isChosen = false; // whether the reader has chosen the zoom
    this.size = { width: 1, height: 1 };
    canvas.addEventListener("wheel", (event) => this._wheel(event), { passive: false });
    this._letDrag();
  }

  /** Set the size of the SVG to that of its picture at the current zoom. */
  resize({ width, height }) {
    this.size = { width, height };
    this.root.setAttribute("viewBox", `0 0 ${short(width)} ${short(height)}`);
    this._apply();
  }

  /** Set the zoom without keeping a point in place. */
  scaleTo(zoom) {
    if (zoom === this.zoom) return; // setting a length again would cause a new layout
    this.zoom = zoom;
    this._apply();
  }

  zoomTo(zoom, at = this._middle()) {
    const before = this.zoom;
    this.zoom = Math.min(Math.max(zoom, LEAST_ZOOM), MOST_ZOOM);
    const box = this.canvas.getBoundingClientRect();
    const corner = this.root.getBoundingClientRect();
    const inside = { x: at.x - corner.left, y: at.y - corner.top };
    this._apply();
    const [scale, moved] = [this.zoom / before, this.root.getBoundingClientRect()];
    this.canvas.scrollLeft += moved.left - box.left + inside.x * scale - (at.x - box.left);
    this.canvas.scrollTop += moved.top - box.top + inside.y * scale - (at.y - box.top);
  }

  zoomBy(steps) {
    this.isChosen = true;
    this.zoomTo(this.zoom * ZOOM_STEP ** steps);
  }

  /** Fit the whole picture, at most at its natural size. */
  fit() {
    this.isChosen = true;
    const wide = (this.canvas.clientWidth - 4) / this.size.width;
    const high = (this.canvas.clientHeight - 4) / this.size.height;
    this.zoomTo(Math.min(wide, high, 1));
  }

  /** Fit the picture's width, unless it would become too small to read. */
  fitWidth() {
    const wide = (this.canvas.clientWidth - 4) / this.size.width;
    this.zoomTo(Math.max(Math.min(wide, 1), 0.6));
    this.canvas.scrollTo(0, 0);
  }

  /** Scroll so that a rectangle of the picture is visible; `always` moves it to the middle. */
  show(rect, always = false) {
    const box = this.canvas.getBoundingClientRect();
    const corner = this.root.getBoundingClientRect();
    const left = corner.left - box.left + rect.x * this.zoom;
    const top = corner.top - box.top + rect.y * this.zoom;
    const wide = Math.min(rect.width * this.zoom, box.width * 0.8);
    const high = Math.min(rect.height * this.zoom, box.height * 0.8);
    const isSeen = left >= 0 && top >= 0 && left + wide <= box.width && top + high <= box.height;
    if (isSeen && !always) return;
    this.canvas.scrollBy(left + wide / 2 - box.width / 2, top + high / 2 - box.height / 2);
  }

  /** Return the screen position of the middle of a rectangle's upper side. */
  onScreen({ x, y, width }) {
    const { left, top } = this.root.getBoundingClientRect();
    return { x: left + (x + width / 2) * this.zoom, y: top + y * this.zoom };
  }

  /** Scroll so that a rectangle keeps its position on the screen. */
  keep(rect, before) {
    const after = this.onScreen(rect);
    this.canvas.scrollBy(after.x - before.x, after.y - before.y);
  }

  _apply() {
    this.root.setAttribute("width", short(this.size.width * this.zoom));
    this.root.setAttribute("height", short(this.size.height * this.zoom));
  }

  _middle() {
    const { left, top, width, height } = this.canvas.getBoundingClientRect();
    return { x: left + width / 2, y: top + height / 2 };
  }

  _wheel(event) {
    if (!event.ctrlKey && !event.metaKey) return;
    event.preventDefault();
    this.isChosen = true;
    const turned = Math.max(Math.min(event.deltaY, 50), -50);
    this.zoomTo(this.zoom * Math.exp(-turned / 150), { x: event.clientX, y: event.clientY });
  }

  _letDrag() {
    const { canvas } = this;
    let last = null;
    canvas.addEventListener("pointerdown", (event) => {
      const isOnThing = event.target.closest("[role=button]");
      if (event.button !== 0 || event.pointerType !== "mouse" || isOnThing) return;
      last = event;
      canvas.setPointerCapture(event.pointerId);
      canvas.classList.add("dragged");
    });
    canvas.addEventListener("pointermove", (event) => {
      if (!last) return;
      canvas.scrollBy(last.clientX - event.clientX, last.clientY - event.clientY);
      last = event;
    });
    for (const name of ["pointerup", "pointercancel"]) {
      canvas.addEventListener(name, () => {
        last = null;
        canvas.classList.remove("dragged");
      });
    }
  }
}
