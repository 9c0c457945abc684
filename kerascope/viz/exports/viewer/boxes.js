// One box: its outline, its text, the cells of inputs and outputs, and the sign that it opens.

/** Create a box with its upper left corner at (0, 0). */
function drawBox(box, isSideways, size = sizeOf(box, isSideways)) {
  const { width, height, margins } = size;
  const rect = { x: 0, y: 0, width, height };
  const inset = 3 * (box.style.frames - 1);
  const group = boxGroup(box, rect);
  const sheets = Math.min((box.attributes.copies || 1) - 1, LAYOUT.mostSheets);
  for (let sheet = sheets; sheet > 0; sheet--) {
    const moved = { ...rect, x: LAYOUT.sheet * sheet, y: LAYOUT.sheet * sheet };
    group.append(outline(moved, box.style, 0, "line"));
  }
  group.append(outline(rect, box.style, 0, "line"));
  for (let frame = 1; frame < box.style.frames; frame++) {
    group.append(outline(rect, box.style, 3 * frame, "line inner"));
  }
  group.append(...wordsOf(box, rect, margins, inset), ...cellsOf(box, rect, margins, isSideways));
  return group;
}

/** Create the group of a box, which receives clicks, the focus and its accessible name. */
function boxGroup(box, { width, height }) {
  const kind = ["box", `k-${box.style.kind}`, stateClass(box)].join(" ").trim();
  const group = svg("g", { class: kind, "data-id": box.id, role: "button", tabindex: "-1" });
  group.append(svg("title", {}, tooltipOf(box)));
  const around = { x: -4, y: -4, width: width + 8, height: height + 8, rx: 9 };
  group.append(svg("rect", { class: "ring", ...around }));
  return group;
}

function outline(rect, style, inset, kind) {
  const [x, y] = [rect.x + inset, rect.y + inset];
  const [width, height] = [rect.width - 2 * inset, rect.height - 2 * inset];
  if (style.corners === "note") {
    const [right, bottom, fold] = [x + width, y + height, LAYOUT.fold];
    const edge = `M${x},${y}L${right - fold},${y}L${right},${y + fold}V${bottom}H${x}Z`;
    return svg("path", { class: kind, d: `${edge}M${right - fold},${y}V${y + fold}H${right}` });
  }
  const rounding = LAYOUT.rounding[style.corners];
  const radius = Math.max((rounding === undefined ? height / 2 : rounding) - inset / 2, 0);
  return svg("rect", { class: kind, x, y, width, height, rx: radius || null });
}

function wordsOf(box, rect, [left, above, right, below], inset) {
  const middle = rect.x + left + (rect.width - left - right) / 2;
  const count = box.lines.length + box.marks.length;
  const padding = 2 * (LAYOUT.paddingY + inset);
  const needed = LAYOUT.titleHeight + count * LAYOUT.lineHeight + padding;
  const spare = rect.height - above - below - needed;
  let y = rect.y + above + padding / 2 + spare / 2 + LAYOUT.titleSize;
  const sign = box.sign.width(LAYOUT.titleSize);
  const title = box.title.width(LAYOUT.titleSize, true);
  const x = middle - (sign + LAYOUT.signGap + title) / 2;
  const found = [
    textLine("sign", x, y, box.sign, LAYOUT.titleSize),
    textLine("title", x + sign + LAYOUT.signGap, y, box.title, LAYOUT.titleSize, true),
  ];
  y += LAYOUT.titleHeight - LAYOUT.titleSize + LAYOUT.lineSize;
  for (const [kind, lines] of [["quiet", box.lines], ["mark", box.marks]]) {
    for (const line of lines) {
      const wide = line.width(LAYOUT.lineSize, kind === "mark");
      found.push(textLine(kind, middle - wide / 2, y, line, LAYOUT.lineSize, kind === "mark"));
      y += LAYOUT.lineHeight;
    }
  }
  return found;
}

/** Create the cells for several inputs or outputs, at the sides where arrows end and start. */
function cellsOf(box, rect, [left, above, right, below], isSideways) {
  const { inputs, outputs } = box.cells;
  const [end, bottom] = [rect.width - right, rect.height - below];
  if (isSideways) {
    const first = cellColumn(inputs, rect, 0, left, left);
    return [...first, ...cellColumn(outputs, rect, end, right, end)];
  }
  const first = cellRow(inputs, rect, 0, above, above);
  return [...first, ...cellRow(outputs, rect, bottom, below, bottom)];
}

function cellRow(cells, { width }, top, height, border) {
  if (!cells.length) return [];
  const wide = width / cells.length;
  const bars = cells.slice(1).map((_, i) => `M${short(wide * (i + 1))},${short(top)}v${height}`);
  const texts = cells.map((cell, i) => {
    const x = wide * (i + 0.5) - cell.width(LAYOUT.cellSize) / 2;
    return textLine("cell", x, top + height / 2 + LAYOUT.cellSize * 0.36, cell, LAYOUT.cellSize);
  });
  const d = [`M0,${short(border)}H${short(width)}`, ...bars].join("");
  return [svg("path", { class: "cells", d }), ...texts];
}

function cellColumn(cells, { height }, left, width, border) {
  if (!cells.length) return [];
  const high = height / cells.length;
  const bar = (i) => `M${short(left)},${short(high * i)}h${short(width)}`;
  const bars = cells.slice(1).map((_, i) => bar(i + 1));
  const texts = cells.map((cell, i) => {
    const x = left + width / 2 - cell.width(LAYOUT.cellSize) / 2;
    return textLine("cell", x, high * (i + 0.5) + LAYOUT.cellSize * 0.36, cell, LAYOUT.cellSize);
  });
  const d = [`M${short(border)},0V${short(height)}`, ...bars].join("");
  return [svg("path", { class: "cells", d }), ...texts];
}

/** Create the sign at a corner that shows whether a click opens or closes. */
function openingSign(x, y, isOpen) {
  const bars = isOpen ? "M-3.5,0H3.5" : "M-3.5,0H3.5M0,-3.5V3.5";
  const parts = [svg("circle", { r: 6.5 }), svg("path", { d: bars })];
  return svg("g", { class: "opening", transform: `translate(${short(x)},${short(y)})` }, ...parts);
}

// --- the description of a box --------------------------------------------------------------------

function tooltipOf({ id, attributes, style, depth }) {
  const name = attributes.class_name || style.kind;
  const shapes = [attributes.input_shapes || "", attributes.output_shapes || ""];
  const words = [id + ": " + name, `${said("depth")} ${depth}`];
  if (shapes[1]) words.push(`${shapes[0]} to ${shapes[1]}`.trim());
  return words.join(", ");
}

/** Return the description of a box for screen readers: its text and the names of its sources. */
function describedBox(box, sources) {
  const texts = [...box.lines, ...box.marks].map((line) => line.text);
  const name = box.attributes.class_name || box.style.kind;
  const kind = texts.join(" ").includes(name) ? [] : [name];
  const sign = /\p{L}/u.test(box.sign.text) ? `${box.sign.text} ` : ""; // a letter is read aloud
  const words = [sign + (box.title.text || box.label), ...texts, ...kind].join(", ");
  if (!sources.length) return words;
  const rest = sources.length - 6;
  const more = rest > 0 ? ` ${said("and {} more").replace("{}", rest)}` : "";
  return `${words}; ${said("from")} ${sources.slice(0, 6).join(", ")}${more}`;
}
