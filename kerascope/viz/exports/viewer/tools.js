// The tools above the pictures (search, frames, zoom, theme, help) and the keys of the page.

class Tools {
  /** `taken` are keys with another meaning on this page, also inside a picture. */
  constructor(viewers, theme, taken = []) {
    const find = (id) => document.getElementById(id);
    this.viewers = viewers;
    this.theme = theme;
    this.taken = taken;
    this.help = find("help");
    this.search = new Search(viewers, find("search"), find("count"));
    const all = (action) => () => this.viewers.forEach(action);
    const actions = {
      "expand-all": all((viewer) => viewer.setClosed([])),
      "collapse": all((viewer) => viewer.setClosed(viewer.closedAtFirst())),
      "zoom-in": all(({ view }) => view.zoomBy(1)),
      "zoom-out": all(({ view }) => view.zoomBy(-1)),
      "fit": all(({ view }) => view.fit()),
      "turn": all((viewer) => viewer.turn()),
      "theme": () => this._nextTheme(),
      "show-help": () => this.help.showModal(),
    };
    for (const [id, action] of Object.entries(actions)) find(id).addEventListener("click", action);
    const hasFrames = viewers.some(({ graph }) => graph.groups.length);
    for (const id of ["expand-all", "collapse"]) find(id).hidden = !hasFrames;
    // A ladder always runs from top to bottom.
    find("turn").hidden = viewers.some(({ graph }) => graph.isLadder);
    document.addEventListener("keydown", (event) => this._key(event));
    const dark = matchMedia("(prefers-color-scheme: dark)");
    dark.addEventListener("change", () => this._setTheme());
    addEventListener("beforeprint", () => this._setTheme("light"));
    addEventListener("afterprint", () => this._setTheme());
    for (const viewer of viewers) viewer.tools = this;
    this.showStatus();
    this._setTheme();
  }

  showStatus() {
    const words = this.viewers.map((viewer) => viewer.status());
    document.getElementById("status").textContent = words.join(" | ");
  }

  announce(text) {
    document.getElementById("spoken").textContent = text;
  }

  _key(event) {
    const { key, target } = event;
    if (event.ctrlKey || event.metaKey || event.altKey || this.help.open) return;
    if (key === "Escape") {
      for (const viewer of this.viewers) viewer.select(-1);
      this.search.clear();
      return;
    }
    if (/^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName) || this.taken.includes(key)) return;
    const inside = this.viewers.find(({ root }) => root.contains(target));
    if (this._pageKey(key) || inside?.key(key)) event.preventDefault();
  }

  _pageKey(key) {
    if (key === "/") document.getElementById("search").select();
    else if (key === "?") this.help.showModal();
    else if (key === "+" || key === "=") this.viewers.forEach(({ view }) => view.zoomBy(1));
    else if (key === "-") this.viewers.forEach(({ view }) => view.zoomBy(-1));
    else if (key === "0") this.viewers.forEach(({ view }) => view.fit());
    else return false;
    return true;
  }

  _nextTheme() {
    this.theme = document.documentElement.dataset.theme === "dark" ? "light" : "dark";
    this._setTheme();
  }

  _setTheme(wanted = this.theme) {
    const isDark = matchMedia("(prefers-color-scheme: dark)").matches;
    const theme = wanted === "auto" ? (isDark ? "dark" : "light") : wanted;
    document.documentElement.dataset.theme = theme;
    for (const { root } of this.viewers) root.setAttribute("class", `graph kerascope ${theme}`);
    this.showTheme();
    dispatchEvent(new Event("theme"));
  }

  /** Write the next theme on the button. */
  showTheme() {
    const isDark = document.documentElement.dataset.theme === "dark";
    document.getElementById("theme").textContent = said(isDark ? "Light" : "Dark");
  }
}
