// The panel at the side: all attributes of the selected box, and the ends of its arrows.

const NAMES = {
  class_name: "class",
  config: "arguments",
  input_shapes: "input",
  output_shapes: "output",
  shared_with: "same weights as",
  members: "boxes inside",
  outputs: "output of the model",
  line: "of the weight",
};
const LEFT_OUT = [
  "layer", "calls", "input_count", "output_count", "same_weights", "depth_last", "title",
  "arrows", "short", "twin",
];
const MOST_LINKS = 40;

/** Fill the panel with the attributes of a box or frame. */
function showDetails(viewer, panel, number) {
  const { graph } = viewer;
  const box = graph.boxes[number];
  const closing = { type: "button", class: "close", "aria-label": said("Close details") };
  const close = html("button", closing, "×");
  close.addEventListener("click", () => viewer.select(-1));
  const parts = [close, html("h2", {}, box.label)];
  if (number >= graph.count) parts.push(openButton(viewer, number));
  parts.push(factList(viewer, box));
  const sides = [["Inputs from", "incoming", "source"], ["Outputs to", "outgoing", "target"]];
  for (const [words, direction, end] of sides) {
    parts.push(...linkList(viewer, said(words), neighbours(graph, number, direction, end)));
  }
  panel.replaceChildren(...parts);
  panel.hidden = false;
}

function openButton(viewer, number) {
  const isOpen = viewer.picture.places.frames.has(number);
  const words = said(isOpen ? "Close frame" : "Open");
  const button = html("button", { type: "button", class: "toggle" }, words);
  button.addEventListener("click", () => viewer.toggle(number));
  return button;
}

function factList(viewer, box) {
  const { attributes } = box;
  const facts = [["id", box.id]];
  const { layer } = attributes;
  if (layer && layer !== box.label) facts.push([said("layer"), layer]);
  for (const [key, value] of Object.entries(attributes)) {
    const isOnlyCall = key === "call" && (attributes.calls || 1) === 1;
    if (LEFT_OUT.includes(key) || isOnlyCall) continue;
    const name = said(NAMES[key] || key.replaceAll("_", " "));
    facts.push([name, factValue(viewer, key, value, attributes)]);
  }
  facts.push([said("depth"), String(box.depth)]);
  const rows = facts.flatMap(([name, value]) => [html("dt", {}, name), html("dd", {}, value)]);
  return html("dl", {}, ...rows);
}

function factValue(viewer, key, value, attributes) {
  if (key === "call") return `${value + 1} ${said("of")} ${attributes.calls || 1}`;
  if (key === "shared_with") {
    const other = viewer.graph.boxes.find((box) => box.id === value);
    if (other) return linkTo(viewer, other);
  }
  if (key === "state") return viewer.graph.states[value] || String(value);
  if (value === true || value === false) return said(value ? "yes" : "no");
  return typeof value === "number" ? value.toLocaleString("en") : String(value);
}

/** Return the boxes at the other ends of the arrows of a box, or of those that cross a frame. */
function neighbours(graph, number, direction, end) {
  if (number < graph.count) return graph.boxes[number][direction].map((edge) => [edge, edge[end]]);
  const isInside = (other) => isWithin(graph, other, number);
  const own = end === "source" ? "target" : "source";
  return graph.edges
    .filter((edge) => isInside(edge[own]) && !isInside(edge[end]))
    .map((edge) => [edge, edge[end]]);
}

function linkList(viewer, title, found) {
  if (!found.length) return [];
  const items = found.slice(0, MOST_LINKS).map(([edge, number]) => {
    const shape = edge.attributes.shape ? ` ${edge.attributes.shape}` : "";
    return html("li", {}, linkTo(viewer, viewer.graph.boxes[number]), shape);
  });
  const rest = found.length - items.length;
  if (rest > 0) items.push(html("li", {}, said("and {} more").replace("{}", rest)));
  return [html("h3", {}, title), html("ul", {}, ...items)];
}

function linkTo(viewer, box) {
  const link = html("button", { type: "button", class: "link" }, box.id);
  link.addEventListener("click", () => viewer.goTo(box.number));
  return link;
}
