// Elements of a picture. All text is set as text, so no name can become markup.

const SVG = "http://www.w3.org/2000/svg";

/** Create an SVG element with attributes and children, which may be texts. */
function svg(name, attributes = {}, ...children) {
  return filled(document.createElementNS(SVG, name), attributes, children);
}

/** Create an HTML element. */
function html(name, attributes = {}, ...children) {
  return filled(document.createElement(name), attributes, children);
}

function filled(element, attributes, children) {
  for (const [key, value] of Object.entries(attributes)) {
    if (value !== null && value !== undefined) element.setAttribute(key, value);
  }
  element.append(...children.filter((child) => child !== null));
  return element;
}

/** Return a length with at most two decimals. */
function short(length) {
  return String(Math.round(length * 100) / 100);
}

/** Create a line of text that begins at (x, y) and is set to its computed width. */
function textLine(kind, x, y, words, size, bold = false) {
  const width = words.width(size, bold);
  const pinned = width ? { textLength: width, lengthAdjust: "spacingAndGlyphs" } : {};
  return svg("text", { class: kind, x: short(x), y: short(y), ...pinned }, words.text);
}

/** Separate the texts of an element by spaces, for screen readers and for copying. */
function spaced(element) {
  for (const line of element.querySelectorAll("text")) {
    if (line.nextSibling?.nodeType !== Node.TEXT_NODE) line.after(" ");
  }
  return element;
}

/** Return the data of an SVG path; straight curves become lines. */
function pathData(points) {
  const word = ([x, y]) => `${short(x)},${short(y)}`;
  const parts = [`M${word(points[0])}`];
  for (let i = 0; i < points.length - 1; i += 3) {
    const four = points.slice(i, i + 4);
    const isStraight = [0, 1].some((axis) => four.every((point) => point[axis] === four[0][axis]));
    if (isStraight) parts.push(`L${word(four[3])}`);
    else parts.push(`C${four.slice(1).map(word).join(" ")}`);
  }
  return parts.join("");
}
