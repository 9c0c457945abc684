// Start a page with one picture.

const graph = readGraph(JSON.parse(document.getElementById("data").textContent));
const viewer = new Viewer(graph, document.querySelector(".side"));
new Tools([viewer], graph.theme);
globalThis.kerascopeViewer = viewer;
