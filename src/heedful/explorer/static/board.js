import { make, seen, three } from "./dom.js";
import { shade, shares } from "./heat.js";

// A column for every word. Heights go by the square root, as shades do, so that small weights can be seen and moved.
const height = (weight) => Math.sqrt(Math.max(0, Math.min(1, weight)));
const MANY = 60;

export function board(place, { moved, chose }) {
  let words = [], weights = [], own = [], at = 0;

  function show(parts, now, base, movable) {
    own = base;
    at = Math.min(at, Math.max(0, now.length - 1));
    place.classList.toggle("still", !movable);
    place.classList.toggle("many", now.length > MANY);
    words = now.map((_, i) => column(parts[2 * i + 1], i, movable));
    place.replaceChildren(...words.map((word) => word.box));
    draw(now);
    mark(null);
  }

  function column(text, i, movable) {
    const fill = make("span", "fill"), was = make("span", "own"), bar = make("span", "column", fill, was);
    const name = make("span", "name", seen(text)), box = make("div", "word", bar, name);
    name.dir = "auto";
    was.style.bottom = `calc(${100 * height(own[i])}% - 1px)`;
    box.tabIndex = i === at ? 0 : -1;
    if (movable) {
      box.setAttribute("role", "slider");
      box.setAttribute("aria-orientation", "vertical");
      box.setAttribute("aria-valuemin", "0");
      box.setAttribute("aria-valuemax", "1");
    } else box.setAttribute("role", "button");
    box.setAttribute("aria-label", seen(text));
    box.addEventListener("focus", () => mark(i));
    box.addEventListener("click", () => mark(i));
    box.addEventListener("keydown", (event) => keys(event, i, movable));
    if (movable) drag(bar, i);
    return { box, fill, name };
  }

  function drag(bar, i) {
    let start = null;
    const to = (event) => {
      const box = bar.getBoundingClientRect();
      const part = Math.max(0, Math.min(1, (box.bottom - event.clientY) / box.height));
      change(i, part * part, start);
    };
    bar.addEventListener("pointerdown", (event) => {
      if (event.button) return;
      bar.setPointerCapture(event.pointerId);
      start = weights.slice();
      mark(i);
      to(event);
    });
    bar.addEventListener("pointermove", (event) => { if (start) to(event); });
    for (const end of ["pointerup", "pointercancel"]) bar.addEventListener(end, () => { start = null; });
  }

  // One word gets a weight, and the others share the rest as they shared it before.
  function change(i, weight, before = weights) {
    const rest = before.reduce((sum, w, n) => (n === i ? sum : sum + w), 0), others = before.length - 1;
    const now = before.map((w, n) => (n === i ? weight : rest > 0 ? (w / rest) * (1 - weight) : (1 - weight) / Math.max(others, 1)));
    if (!others) now[0] = 1;
    draw(now);
    moved(now, i);
  }

  function keys(event, i, movable) {
    const step = { ArrowLeft: -1, ArrowRight: 1, Home: -words.length, End: words.length }[event.key];
    const up = { ArrowUp: 0.05, ArrowDown: -0.05, PageUp: 0.25, PageDown: -0.25 }[event.key];
    if (step) words[Math.max(0, Math.min(words.length - 1, i + step))].box.focus();
    else if (up && movable) { const part = Math.max(0, Math.min(1, height(weights[i]) + up)); change(i, part * part); }
    else if (event.key === "Enter" || event.key === " ") mark(i);
    else return;
    event.preventDefault();
  }

  function draw(now) {
    weights = now.slice();
    const parted = shares(now);
    words.forEach((word, i) => {
      word.fill.style.height = `${100 * height(now[i])}%`;
      word.name.className = `name ${shade(parted[i])}`;
      word.box.classList.toggle("gone", now[i] === 0 && own[i] > 0);
      if (word.box.getAttribute("role") === "slider") {
        word.box.setAttribute("aria-valuenow", now[i].toFixed(3));
        word.box.setAttribute("aria-valuetext", `weight ${three(now[i])}`);
      }
      word.box.title = `${three(now[i])}${Math.abs(now[i] - own[i]) > 5e-4 ? `, was ${three(own[i])}` : ""}`;
    });
  }

  function mark(i) {
    words.forEach((word, n) => { word.box.classList.toggle("on", n === i); if (i !== null) word.box.tabIndex = n === i ? 0 : -1; });
    if (i !== null) at = i;
    chose(i);
  }

  return { show, draw, mark, change, weights: () => weights.slice(), chosen: () => at };
}
