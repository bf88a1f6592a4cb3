"use strict";
{
  const make = (tag, text, set) => Object.assign(document.createElement(tag), { textContent: text }, set);
  const articles = [...document.getElementsByTagName("article")];
  const fold = (s) => s.normalize("NFKD").toUpperCase(); // which makes ß and SS, ς and σ the same
  const texts = new Map();
  const textOf = (a) => {
    if (!texts.has(a)) texts.set(a, fold(a.querySelector(".t").textContent));
    return texts.get(a);
  };
  const box = make("div", "", { className: "find" });
  box.setAttribute("role", "search");
  const input = make("input", "", { type: "search", placeholder: "search  /" });
  input.setAttribute("aria-label", "Search the messages");
  const count = make("output", "");
  let words = [];
  let hits = [];
  let at = -1;
  const show = () => {
    count.textContent = input.value.trim() === "" ? "" : hits.length === 0 ? "none" : at < 0 ? String(hits.length) : (at + 1) + "/" + hits.length;
  };
  let marked = null; // the hit that a step led to
  const mark = (a) => {
    if (marked) marked.classList.remove("at");
    marked = a;
    if (a) a.classList.add("at");
  };
  const find = () => {
    words = fold(input.value).split(/\s+/).filter(Boolean);
    hits = words.length === 0 ? [] : articles.filter((a) => words.every((w) => textOf(a).includes(w)));
    at = -1;
    const set = new Set(hits);
    for (const a of articles) a.classList.toggle("hit", set.has(a));
    mark(null);
    show();
  };
  const step = (by) => {
    if (hits.length === 0) return;
    at = at < 0 && by < 0 ? hits.length - 1 : (at + by + hits.length) % hits.length;
    mark(hits[at]);
    const has = (e) => words.some((w) => fold(e.textContent).includes(w));
    for (const d of hits[at].querySelectorAll("details")) {
      if (has(d)) d.open = true;
    }
    // A message can be taller than the window: to the paragraph.
    const found = [...hits[at].querySelectorAll(".t :is(header,p,h4,pre,li,figure)")].find(has);
    (found ?? hits[at]).scrollIntoView({ block: "center" });
    show();
  };
  let wait = 0;
  input.addEventListener("input", () => { clearTimeout(wait); wait = setTimeout(find, 150); });
  input.addEventListener("keydown", (e) => {
    if (e.key === "Enter") {
      clearTimeout(wait);
      if (at < 0) find();
      step(e.shiftKey ? -1 : 1);
    } else if (e.key === "Escape") {
      input.value = "";
      find();
      input.blur();
    }
  });
  document.addEventListener("keydown", (e) => {
    if (e.key === "/" && e.target !== input && !e.ctrlKey && !e.metaKey && !e.altKey) {
      e.preventDefault();
      input.focus();
    }
  });
  box.append(input, count);
  const swipes = [...document.querySelectorAll("details.sw")];
  if (swipes.length > 0) {
    const open = make("button", "open all swipes", { type: "button" });
    open.setAttribute("aria-pressed", "false");
    open.addEventListener("click", () => {
      const on = open.getAttribute("aria-pressed") !== "true";
      open.setAttribute("aria-pressed", String(on));
      for (const d of swipes) d.open = on;
    });
    box.append(open);
  }
  document.getElementById("bar").append(box);
}
