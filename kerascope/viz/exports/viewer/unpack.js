// Unpack a compressed page: insert its parts, and then run its script.

(async () => {
  const packed = document.getElementById("packed");
  const bytes = Uint8Array.from(atob(packed.textContent), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  const { body, data, script } = await new Response(stream).json();
  document.querySelector(".sides").innerHTML = body;
  packed.id = "data";
  packed.type = "application/json";
  packed.textContent = data;
  const element = document.createElement("script");
  element.textContent = script; // allowed by the page's content security policy
  document.body.append(element);
})();
