import { read, write } from "./address.js";
import { ask, guarded, model, Refused } from "./ask.js";
import { asking } from "./asking.js";
import { classes } from "./classes.js";
import { button, find, make, option, seen } from "./dom.js";
import { heatmap } from "./heat.js";

// What is compared: models and explainers, each pair a column.
let sides = [], turn = 0;
const titles = new Map();
const view = asking({ submitted: guarded(submit), changed: sources });
const same = (a, b) => a.model === b.model && a.source === b.source;

function sources(about) {
  find("source").replaceChildren(...about.sources.map((one) => option(one.name, one.title)));
  for (const one of about.sources) titles.set(one.name, one.title);
}

function add(side) {
  if (!sides.some((one) => same(one, side))) sides.push(side);
  chips();
}

function chips() {
  find("chips").replaceChildren(...sides.map((side) => {
    const gone = button("×", () => { sides = sides.filter((one) => !same(one, side)); chips(); remember(true); draw(); });
    gone.setAttribute("aria-label", `Take ${seen(side.model)}, ${side.source} away`);
    return make("li", "", `${seen(side.model)} · ${titles.get(side.source) || side.source.replaceAll("_", " ") || "…"}`, gone);
  }));
}

async function submit({ push = false } = {}) {
  const { model: id, text } = view.value();
  if (!text.trim()) { find("text").focus(); return; }
  if (!sides.length) {
    add({ model: id, source: find("source").value });
    const others = [...find("model").options].map((one) => one.value).filter((one) => one !== id);
    if (others.length) for (const other of others.slice(0, 2)) add({ model: other, source: "" });
    else for (const other of ["leave_one_out", "integrated_gradients"]) if ([...find("source").options].some((one) => one.value === other)) add({ model: id, source: other });
  }
  remember(push);
  await draw();
}

async function draw() {
  const { text, query } = view.value(), mine = ++turn;
  if (!text.trim()) return;
  const found = await Promise.all(sides.map(async (side) => {
    try {
      return [side, await ask(`${model(side.model)}/read`, { body: { text, query, source: side.source } })];
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      return [side, error];
    }
  }));
  if (mine !== turn) return; // another text was asked for meanwhile
  // A model that has no attention is drawn by what there is; its name is known once it was asked.
  for (const [side, heat] of found) if (!(heat instanceof Error) && !side.source) { side.source = heat.source; titles.set(heat.source, heat.source_title); }
  chips();
  remember(false);
  const first = found.find(([, heat]) => !(heat instanceof Error));
  find("sides").replaceChildren(...found.map(([side, heat]) => {
    const title = make("h2", "", seen(side.model)), card = make("article", "card side", title);
    if (heat instanceof Error) { card.append(make("p", "fault", seen(heat.message))); return card; }
    const against = first && first[1] !== heat && agree(first[1], heat);
    card.append(make("p", "fine", seen(heat.source_title)), heatmap(heat.parts, heat.weights, { label: `${heat.source_title} of ${side.model}`, marked: top(heat.weights) }), classes(heat.labels, heat.probabilities));
    if (!top(heat.weights).length) card.append(make("p", "fine", "Every word has a score of zero."));
    if (against) card.append(make("p", "fine", against));
    return card;
  }));
}

// Words that have no score are none of the top.
const top = (weights) => weights.map((w, i) => [Math.abs(w), i]).filter(([w]) => w > 0).sort((a, b) => b[0] - a[0] || a[1] - b[1]).slice(0, 3).map(([, i]) => i);

// Models that cut a text alike can be told apart by their three top words, which are underlined.
function agree(first, other) {
  if (first.weights.length !== other.weights.length) return "";
  const own = top(other.weights), a = new Set(top(first.weights)), common = own.filter((i) => a.has(i)).length;
  if (!own.length) return "";
  return `Of its ${["", "top word", "two top words", "three top words"][own.length]}, underlined, ${common || "none"} ${common > 1 ? "are" : "is"} among those of the first.`;
}

function remember(push) {
  const { model: id, text, query } = view.value();
  write({ model: id, text, query, with: sides.map((side) => `${side.source}:${side.model}`) }, { push });
}

async function restore() {
  const found = read();
  view.set({ text: found.get("text"), query: found.get("query") });
  await view.load(found.get("model"));
  sides = found.getAll("with").map((one) => ({ source: one.split(":")[0], model: one.slice(one.indexOf(":") + 1) }));
  chips();
  if (found.get("text")) await submit();
}

find("add").addEventListener("click", guarded(async () => { add({ model: view.value().model, source: find("source").value }); remember(true); await draw(); }));
addEventListener("popstate", guarded(restore));
guarded(restore)();
