"use strict";
// Texts of others reach the page only as text nodes, never as markup.
const SCALE = 100000, FIRST = 3, MORE = 10, CUT = 120;
// What so many words have, with the gaps between them: items may be sentences.
const LETTER = 6, LETTERS = 1.4 * CUT * LETTER;
// Words of all heatmaps on the first view: of long texts fewer are there, so that what follows is not far away.
const ROOM = innerWidth < 640 ? 180 : 400;
const make = (tag, name, ...children) => {
  const made = document.createElement(tag);
  if (name) made.className = name;
  made.append(...children);
  return made;
};
// Characters that cannot be seen are shown by the pictures Unicode has for them.
const seen = (text) => text.replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f]/g, (c) => String.fromCharCode(0x2400 + c.charCodeAt(0)));
const spell = (weight) => (Math.abs(weight) >= 0.01 || weight === 0 ? weight.toFixed(3) : weight.toPrecision(1)).replace("-", "−");
const bdi = (text) => make("bdi", "", seen(text));

const tip = document.getElementById("tip");
let here = null;
function point(card, at) {
  for (const old of document.querySelectorAll(".here")) old.classList.remove("here");
  here = card ? at : null;
  tip.hidden = !card;
  if (!card) return;
  for (const word of card.querySelectorAll(`[data-i="${at.dataset.i}"]`)) word.classList.add("here");
  tip.textContent = card.read(Number(at.dataset.i));
  place();
}
function place() {
  if (!here) return;
  const box = here.getBoundingClientRect(), own = tip.getBoundingClientRect();
  const below = box.bottom + 8 + own.height < innerHeight;
  tip.style.left = `${Math.max(8, Math.min(box.left, document.documentElement.clientWidth - own.width - 8))}px`;
  tip.style.top = `${below ? box.bottom + 8 : Math.max(8, box.top - own.height - 8)}px`;
}

function heatmap(card, text, map, data, relative, limit) {
  const weights = text.weights[map], heat = make("p", "heat");
  const most = Math.max(...weights.map((w) => Math.abs(w)), 1);
  const marked = new Set(map === 0 && !everywhere(text, data) ? text.marks || [] : []);
  heat.dir = "auto"; heat.tabIndex = 0;
  heat.setAttribute("role", "group");
  heat.setAttribute("aria-label", `${data.maps[map]}, ${weights.length} items; arrow keys read their weights`);
  for (let i = 0; i < Math.min(weights.length, limit); i++) {
    const part = Math.abs(weights[i]) / (relative ? most : SCALE);
    const level = Math.round(20 * (relative ? part : Math.sqrt(Math.min(part, 1))));
    const word = make("span", `${weights[i] < 0 ? "against n" : "w"}${level}${marked.has(i) ? " marked" : ""}`, seen(text.parts[2 * i + 1]));
    word.dataset.i = i;
    heat.append(seen(text.parts[2 * i]), word);
  }
  heat.append(limit < weights.length ? " …" : seen(text.parts[2 * weights.length]));
  const words = heat.getElementsByTagName("span");
  let at = -1;
  heat.addEventListener("pointerover", (e) => { if (e.target.dataset.i) point(card, e.target); });
  heat.addEventListener("pointerleave", (e) => { if (e.pointerType === "mouse") point(); });
  heat.addEventListener("click", (e) => { if (e.target.dataset.i) point(card, e.target); });
  heat.addEventListener("blur", () => point());
  heat.addEventListener("keydown", (e) => {
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[e.key];
    if (e.key === "Escape") point();
    if (!step || !words.length) return;
    e.preventDefault();
    at = Math.max(0, Math.min(words.length - 1, at + step));
    words[at].scrollIntoView({ block: "nearest" });
    point(card, words[at]);
  });
  return heat;
}

// A set of nearly all words points at none: it is told, and not drawn.
// How many items of a text are drawn until all of it is asked for, and how many words that is.
function cut(text) {
  let items = 0, letters = 0;
  while (items < Math.min(CUT, text.weights[0].length) && letters < LETTERS) letters += text.parts[2 * items].length + text.parts[2 * items++ + 1].length;
  return { items, words: Math.max(items, letters / LETTER) };
}

const everywhere = (text, data) => Boolean(text.marks) && text.marks.length >= data.marks.nearly_all * text.weights[0].length;

function flips(text, data) {
  const line = make("p", "flips");
  if (text.marks === null) { line.append(data.marks.nothing); return line; }
  if (everywhere(text, data)) { line.append(`The ${data.marks.title} holds nearly all of the text: ${text.marks.length} of ${text.weights[0].length} items.`); return line; }
  line.append(`The ${data.marks.title}: ${text.marks.length} of ${text.weights[0].length} items`);
  let letters = 0;
  const few = text.marks.slice(0, 12).filter((i, n) => { letters += text.parts[2 * i + 1].length; return !n || letters < 12 * 2 * LETTER; });
  line.append(...few.flatMap((i, n) => [n ? ", " : ": ", make("u", "", bdi(text.parts[2 * i + 1]))]), text.marks.length > few.length ? ", …" : ".");
  return line;
}

function drawn(text, data, relative, order, limit = cut(text).items) {
  const items = text.weights[0].length;
  const head = make("h3", "", `Text ${text.row + 1} · ${items} items · predicted `, bdi(text.predicted), ` ${text.probabilities[0].toFixed(2)}`);
  if (text.label !== null) head.append(text.label === text.predicted ? ", rightly" : ", labelled ", text.label === text.predicted ? "" : bdi(text.label));
  const value = order === null ? null : text.order[order];
  if (value !== null) head.append(` · ${data.orders[order].title}: ${value.toFixed(2)}`);
  const card = make("article", "card", head);
  card.read = (i) => {
    const lines = text.weights.map((w, m) => (w ? `${data.maps[m]}: ${spell(w[i] / SCALE)}` : "")).filter(Boolean);
    return [`“${seen(text.parts[2 * i + 1]).slice(0, 60)}”`, ...lines].join("\n");
  };
  if (text.query) { const query = make("p", "query", seen(text.query)); query.dir = "auto"; card.append(query); }
  const maps = make("div", "maps");
  text.weights.forEach((weights, m) => {
    if (!weights) return;
    const probability = text.probabilities[m], title = make("h4", "", data.maps[m]);
    if (probability !== null) title.append(make("span", "", bdi(text.predicted), ` ${probability.toFixed(3)}`));
    if (data.beside && m === 1) title.append(make("span", "", "for and against ", bdi(text.predicted)));
    maps.append(make("div", "map", title, heatmap(card, text, m, data, relative, limit)));
  });
  card.append(maps);
  if (data.marks && text.marks !== undefined) card.append(flips(text, data));
  if (items > limit) {
    const rest = make("button", "", `Show all ${items.toLocaleString("en")} items`);
    rest.type = "button";
    rest.addEventListener("click", () => card.replaceWith(drawn(text, data, relative, order, Infinity)));
    card.append(rest);
  }
  return card;
}

function browse(section) {
  const data = JSON.parse(section.querySelector("script").textContent);
  const find = (name) => section.querySelector(`[data-choice="${name}"]`);
  const option = (name, value, text) => { const made = make("option", "", text); made.value = value; find(name).append(made); };
  data.orders.forEach((order, i) => {
    option("order", `${i} worst`, `worst: ${order.title}`);
    option("order", `${i} best`, `best: ${order.title}`);
  });
  option("order", "none", "in the order of the data");
  for (const name of [...new Set(data.texts.map((t) => t.predicted))].sort()) option("class", `=${name}`, seen(name));
  const lengths = data.texts.map((t) => t.weights[0].length).sort((a, b) => a - b);
  const [a, b] = [1 / 3, 2 / 3].map((q) => lengths[Math.floor(q * lengths.length)]);
  if (a < b) for (const [low, high, text] of [[0, a, `up to ${a} items`], [a + 1, b, `${a + 1} to ${b}`], [b + 1, 1e9, `more than ${b}`]]) option("length", `${low}-${high}`, text);
  const beside = find("beside");
  for (const [name, useful] of [["right", data.texts.some((t) => t.label !== null)], ["length", a < b]]) find(name).parentElement.hidden = !useful;
  find("shade").value = data.relative ? "relative" : "weight";
  let limit = 0;
  const first = (kept) => {
    let many = 0, words = 0;
    for (const text of kept.slice(0, FIRST)) {
      words += cut(text).words * text.weights.filter(Boolean).length;
      if (many && words > ROOM) break;
      many += 1;
    }
    return many;
  };
  const within = (value, range) => { if (!range) return true; const [low, high] = range.split("-").map(Number); return value >= low && value <= high; };
  const show = () => {
    const [order, end] = find("order").value.split(" "), sign = end && (data.orders[order].worst === "highest") === (end === "worst") ? -1 : 1;
    const kept = data.texts.filter((t) =>
      (!beside || !beside.value || t.weights[1]) && (!find("class").value || find("class").value === `=${t.predicted}`) && within(t.weights[0].length, find("length").value) &&
      within(t.probabilities[0], find("sure").value) && (!find("right").value || (t.label !== null && (t.label === t.predicted) === (find("right").value === "right"))));
    // Texts for which a measure is not defined come last, whichever way the rest is sorted.
    if (end) kept.sort((x, y) => (x.order[order] === null) - (y.order[order] === null) || sign * (x.order[order] - y.order[order]) || x.row - y.row);
    limit ||= first(kept);
    const relative = find("shade").value === "relative";
    point();
    section.querySelector("[data-most]").textContent = relative ? "the text's largest weight" : "1 (shaded by the square root)";
    section.querySelector("[data-cards]").replaceChildren(...kept.slice(0, limit).map((t) => drawn(t, data, relative, end ? Number(order) : null)));
    section.querySelector("[data-count]").textContent = `${Math.min(limit, kept.length)} of ${kept.length} matching texts.`;
    section.querySelector("[data-more]").hidden = kept.length <= limit;
  };
  section.querySelector("form").addEventListener("submit", (e) => e.preventDefault());
  section.querySelector("form").addEventListener("change", () => { limit = 0; show(); });
  section.querySelector("[data-more]").addEventListener("click", () => { limit += MORE; show(); });
  show();
}

function save(name, kind, content) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([content], { type: kind }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}
// A spreadsheet must not take a label for a formula.
const cell = (td) => {
  const text = (td.dataset.v ?? td.textContent).trim(), safe = /^[=+\-@]/.test(text) && Number.isNaN(Number(text)) ? `'${text}` : text;
  return `"${safe.replaceAll('"', '""')}"`;
};
function taker(text, label, action) {
  const button = make("button", "take", text);
  button.type = "button";
  button.setAttribute("aria-label", label);
  button.addEventListener("click", action);
  return button;
}

for (const table of document.querySelectorAll("[data-table]")) {
  const csv = () => [...table.rows].map((row) => [...row.cells].map(cell).join(",")).join("\r\n") + "\r\n";
  table.parentElement.after(taker("CSV", `Download the table ${table.dataset.table} as CSV`, () => save(`${table.dataset.table}.csv`, "text/csv", csv())));
}
for (const figure of document.querySelectorAll("[data-figure]")) {
  const svg = () => new XMLSerializer().serializeToString(figure.querySelector("svg"));
  figure.querySelector("figcaption").append(taker("SVG", `Download the figure ${figure.dataset.figure} as SVG`, () => save(`${figure.dataset.figure}.svg`, "image/svg+xml", svg())));
}
for (const section of document.querySelectorAll("[data-see]")) browse(section);
addEventListener("scroll", place, { passive: true });
// A link into a fold opens it.
function unfold() {
  const at = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  for (let fold = at?.closest("details"); fold; fold = fold.parentElement.closest("details")) fold.open = true;
  if (at?.closest("details")) at.scrollIntoView();
}
addEventListener("hashchange", unfold);
unfold();
for (const button of document.querySelectorAll("[data-unfold]")) {
  const folds = document.getElementById(button.dataset.unfold).querySelectorAll("details.question, details.further");
  button.hidden = false;
  button.addEventListener("click", () => {
    const open = [...folds].some((fold) => !fold.open);
    for (const fold of folds) fold.open = open;
    button.textContent = open ? "Close all" : "Open all";
  });
}
// What decided is printed in full; paper says where the rest is.
let opened = [];
addEventListener("beforeprint", () => { opened = [...document.querySelectorAll("details[data-paper]:not([open])")]; for (const fold of opened) fold.open = true; });
addEventListener("afterprint", () => { for (const fold of opened) fold.open = false; opened = []; });
