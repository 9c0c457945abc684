// The language that is chosen stands in the page's address: #zh, or #zh.tools with a section.
(function () {
  "use strict";
  const titles = JSON.parse(document.getElementById("titles").textContent);
  const radios = [...document.querySelectorAll("input[name=language]")];
  let shown;
  const chosen = () => radios.find((radio) => radio.checked).value;

  function wanted() {
    const [language, section] = decodeURIComponent(location.hash.slice(1)).split(".");
    return { language: language in titles ? language : null, section };
  }

  function show(language) {
    shown = language;
    for (const radio of radios) radio.checked = radio.value === language;
    document.documentElement.lang = language === "zh" ? "zh-Hans" : language;
    document.title = titles[language];
    for (const frame of document.querySelectorAll("iframe.player")) {
      frame.contentWindow.postMessage({ language }, "*");
    }
    for (const link of document.querySelectorAll("a[data-page]")) {
      link.href = link.dataset.page + "#" + language;
    }
  }

  // Where the reader is: the last heading above the middle of the window, and its height there.
  function place() {
    const headings = [...document.querySelectorAll("[data-section].in-" + chosen())];
    const tops = headings.map((one) => one.getBoundingClientRect().top);
    const last = tops.filter((top) => top < innerHeight / 2).length - 1;
    if (scrollY === 0 || last < 0) return null;
    return { section: "." + headings[last].dataset.section, top: tops[last] };
  }

  // The heading where the reader was stays where it was. To find it, the old language is shown once
  // more: the style sheet has hidden it before this is called, but nothing was drawn yet.
  function switched(language) {
    show(shown);
    const before = place();
    show(language);
    history.replaceState(null, "", "#" + language + (before ? before.section : ""));
    if (!before) return;
    const heading = document.getElementById(language + before.section);
    scrollBy({ top: heading.getBoundingClientRect().top - before.top, behavior: "instant" });
  }

  for (const radio of radios) {
    radio.addEventListener("change", () => switched(radio.value));
  }
  addEventListener("hashchange", () => {
    const { language, section } = wanted();
    if (!language) return;
    show(language);
    if (section) document.getElementById(language + "." + section)?.scrollIntoView();
  });
  let closed = [];
  addEventListener("beforeprint", () => {
    closed = [...document.querySelectorAll("details:not([open])")];
    for (const one of closed) one.open = true;
  });
  addEventListener("afterprint", () => {
    for (const one of closed) one.open = false;
  });

  // A player says how high it is; until it is there it cannot hear which language is chosen.
  addEventListener("message", (event) => {
    for (const frame of document.querySelectorAll("iframe.player")) {
      if (frame.contentWindow !== event.source || !event.data.height) continue;
      frame.style.height = Math.ceil(event.data.height) + "px";
      if (!frame.dataset.told) frame.contentWindow.postMessage({ language: shown }, "*");
      frame.dataset.told = "yes";
    }
  });

  // The contents stand beside the text where there is room, and folded above it where there is none.
  const room = matchMedia("(min-width: 80rem)");
  const unfold = () => {
    for (const one of document.querySelectorAll(".contents details")) one.open = room.matches;
  };
  room.addEventListener("change", unfold);
  unfold();

  const { language, section } = wanted();
  const known = radios.map((radio) => radio.value);
  const liked = navigator.language.slice(0, 2);
  show([language, liked, chosen()].find((one) => known.includes(one)));
  if (section) document.getElementById(language + "." + section)?.scrollIntoView();
})();
