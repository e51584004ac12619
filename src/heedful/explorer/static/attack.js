import { read, write } from "./address.js";
import { ask, guarded, latest, model } from "./ask.js";
import { asking } from "./asking.js";
import { classes } from "./classes.js";
import { find, make, option, seen, svg, three } from "./dom.js";
import { heatmap } from "./heat.js";
import { follow } from "./work.js";

const FILES = [...document.querySelectorAll("#files input")].map((input) => input.id);
let outcome = null, at = 0, work = null, turn = 0;
const view = asking({ submitted: guarded(begin), changed: choices });

function choices(about) {
  const before = find("recipe").value;
  find("recipe").replaceChildren(...about.attacks.map((one) => option(one.name, one.title)));
  const wanted = read().get("recipe") || before || "pwws";
  if (about.attacks.some((one) => one.name === wanted)) find("recipe").value = wanted;
  find("recipe").disabled = !about.attacks.length;
}

async function begin() {
  const { model: id, text } = view.value();
  if (!text.trim()) { find("text").focus(); return; }
  const body = { kind: "attack", model: id, text, recipe: find("recipe").value, known_words: find("known").checked, similarity: find("similar").checked, ...files() };
  const made = await ask("/api/work", { body });
  work = made.id;
  at = null;
  remember(true);
  await watch();
}

const files = () => Object.fromEntries(FILES.map((name) => [name, find(name).value.trim() || null]));

async function watch() {
  const mine = ++turn;
  find("outcome").hidden = true;
  await follow(work, { still: () => mine === turn, done: guarded(async (result, record) => { outcome = result; await show(record); }) });
  await earlier();
}

async function show(record) {
  const found = outcome, mine = turn, id = record.asked.model, label = found.label;
  find("outcome").hidden = false;
  const said = { successful: "The answer changed", failed: "The answer held", skipped: "There was nothing to attack" }[found.status];
  find("outcome-title").textContent = said;
  const changed = found.changed.map((one) => (one.old ? `${one.old} → ${one.new || "nothing"}` : `+ ${one.new.trim()}`)).join(", ");
  find("outcome-says").textContent = seen(`${found.recipe}: ${found.changed.length} of ${found.words} words replaced, ${found.queries} questions asked of the model. ${changed}`);
  find("after-title").textContent = found.status === "successful" ? "After" : "After its best try";
  const before = await ask(`${model(id)}/read`, { body: { text: found.original } });
  find("before").replaceChildren(heatmap(before.parts, before.weights, { label: "Heatmap before" }), classes(found.labels, found.probabilities));
  const after = await ask(`${model(id)}/read`, { body: { text: found.attacked } });
  if (mine !== turn) return;
  const marks = marked(after.parts, found.attacked_parts);
  find("after").replaceChildren(heatmap(after.parts, after.weights, { label: "Heatmap after", marked: marks }), classes(found.labels, found.probabilities_after, found.probabilities));
  find("step").max = String(Math.max(0, found.steps.length - 1));
  step(at === null ? found.steps.length - 1 : Math.min(at, found.steps.length - 1), label);
}

// Which words of a heatmap stand where the attack put something.
function marked(parts, spans) {
  const places = [];
  let from = 0;
  for (const [text, is] of spans) { if (is) places.push([from, from + text.length]); from += text.length; }
  const found = [];
  let place = 0;
  parts.forEach((part, n) => {
    if (n % 2 && places.some(([a, b]) => place < b && place + part.length > a)) found.push((n - 1) / 2);
    place += part.length;
  });
  return found;
}

function step(n) {
  at = Math.max(0, n);
  const one = outcome.steps[at];
  find("step").value = String(at);
  find("step-back").disabled = at <= 0;
  find("step-on").disabled = at >= outcome.steps.length - 1;
  find("course").replaceChildren(course());
  find("step-says").textContent = seen(
    at === 0
      ? `Before the first step the model says ${outcome.label} with ${three(one.probability)}.`
      : `Step ${at} of ${outcome.steps.length - 1}: ${one.read} ${one.read === 1 ? "text" : "texts"} read, ${one.queries} so far. In the one that came nearest, ${outcome.label} has ${three(one.probability)}${one.reached ? ": another answer" : ""}.`,
  );
  find("step-text").replaceChildren(make("p", "reading", ...one.parts.map(([text, is]) => (is ? make("mark", "", seen(text)) : seen(text)))));
  remember(false);
  shadeStep(one, find("model").value);
}

// The heatmap of a step comes when it has been read; until then its words stand there.
const shadeStep = latest(guarded(async (one, id) => {
  const heat = await ask(`${model(id)}/read`, { body: { text: one.text } });
  if (outcome.steps[at] === one) find("step-text").replaceChildren(heatmap(heat.parts, heat.weights, { label: "Heatmap of this step", marked: marked(heat.parts, one.parts) }));
}));

// The probability of the answer that is attacked, step by step.
function course() {
  const steps = outcome.steps, wide = Math.max(280, find("course").clientWidth), tall = 150, left = 34, low = tall - 18;
  const x = (n) => left + (steps.length > 1 ? (n * (wide - left - 8)) / (steps.length - 1) : 0), y = (p) => low - p * (low - 8);
  const drawn = svg("svg", { viewBox: `0 0 ${wide} ${tall}`, role: "img", "aria-label": `Probability of ${seen(outcome.label)} after each step` });
  for (const p of [0, 0.5, 1]) {
    const label = svg("text", { x: 0, y: y(p) + 4 });
    label.textContent = p.toFixed(1);
    drawn.append(label, svg("line", { x1: left, x2: wide, y1: y(p), y2: y(p), class: p === 0.5 ? "half" : "axis", stroke: "currentColor", "stroke-opacity": ".15" }));
  }
  if (steps.length) drawn.append(svg("polyline", { class: "line", points: steps.map((one, n) => `${x(n)},${y(one.probability)}`).join(" ") }));
  if (steps.length <= 80) steps.forEach((one, n) => { const dot = svg("circle", { cx: x(n), cy: y(one.probability), r: n === at ? 5 : 3, class: n === at ? "dot now" : "dot" }); dot.addEventListener("click", () => step(n)); drawn.append(dot); });
  else if (steps[at]) drawn.append(svg("circle", { cx: x(at), cy: y(steps[at].probability), r: 5, class: "dot now" }));
  return drawn;
}

async function earlier() {
  const all = (await ask("/api/work")).filter((one) => one.asked.kind === "attack" && one.state === "done" && one.id !== work).slice(0, 10);
  find("earlier").hidden = !all.length;
  find("earlier-list").replaceChildren(...all.map((one) => {
    const link = make("a", "", seen(one.asked.text.slice(0, 120)));
    link.href = `/attack?${new URLSearchParams({ model: one.asked.model, text: one.asked.text, recipe: one.asked.recipe, work: one.id })}`;
    return make("li", "", link, make("span", "fine", seen(one.asked.recipe)));
  }));
}

function remember(push) {
  const { model: id, text } = view.value();
  write({ model: id, text, recipe: find("recipe").value, known: find("known").checked ? 1 : null, similar: find("similar").checked ? null : 0, ...files(), work, step: at === null ? null : String(at) }, { push });
}

async function restore() {
  const found = read();
  view.set({ text: found.get("text") });
  await view.load(found.get("model"));
  find("known").checked = found.get("known") === "1";
  find("similar").checked = found.get("similar") !== "0";
  for (const name of FILES) find(name).value = found.get(name) || "";
  find("files").open = FILES.some((name) => found.get(name));
  work = found.get("work");
  at = found.get("step") === null ? null : Number(found.get("step")) || 0;
  if (work) await watch();
  else { turn += 1; find("outcome").hidden = true; find("work").hidden = true; await earlier(); }
}

find("step").addEventListener("input", () => step(Number(find("step").value)));
find("step-back").addEventListener("click", () => step(at - 1));
find("step-on").addEventListener("click", () => step(at + 1));
addEventListener("popstate", guarded(restore));
guarded(restore)();
