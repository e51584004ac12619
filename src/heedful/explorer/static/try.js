import { read, write } from "./address.js";
import { ask, guarded, latest, model, tell } from "./ask.js";
import { asking } from "./asking.js";
import { board } from "./board.js";
import { classes } from "./classes.js";
import { button, find, make, option, seen, three } from "./dom.js";
import { heatmap } from "./heat.js";

// What is shown: a text as it was read, and how its weights are now. `how` is a button, or "own", or "given".
const USUAL = "A bar is a word’s weight, drawn by its square root; the line is the model’s own.";
let turn = 0, pressed = 0, heat = null, how = { how: "own" }, words = null, alike = false;
const view = asking({ submitted: guarded(submit), changed: tools });
const words_board = board(find("board"), { moved: given, chose });
const asked = () => ({ text: heat.text, query: heat.query });
const here = () => model(view.value().model);

async function submit({ push = false } = {}) {
  const value = view.value();
  if (!value.text.trim()) { find("text").focus(); return; }
  how = { how: "own" };
  words = null;
  if (await readText()) remember(push);
}

async function readText() {
  const { text, query } = view.value();
  const mine = ++turn, found = await ask(`${here()}/read`, { body: { text, query } });
  if (mine !== turn) return false; // another text was asked for meanwhile
  heat = found;
  alike = false;
  find("stage").hidden = false;
  find("effects").hidden = true;
  words_board.show(heat.parts, heat.weights, heat.weights, heat.movable);
  find("tools").hidden = !heat.movable;
  find("board-title").textContent = heat.movable ? "Move the attention" : `Words, by ${heat.source_title.toLowerCase()}`;
  find("board-how").textContent = heat.movable
    ? `Drag a word’s bar, or use the arrow keys. The other weights are scaled${heat.heads > 1 ? `, in each of the ${heat.heads} heads,` : ""} and what the model made of each ${heat.unit} stays as it is.`
    : "Choose a word to delete or replace it.";
  find("word-zero").hidden = !heat.movable;
  find("found").textContent = heat.movable ? USUAL : "";
  answer(null);
  return true;
}

function answer(moved) {
  const now = moved || heat;
  find("answer").replaceChildren(classes(heat.labels, now.probabilities, moved ? heat.probabilities : null));
  const same = now.predicted === heat.predicted, line = find("decision");
  line.className = `decision ${moved ? (same ? "same" : "other") : ""}`;
  line.textContent = !moved ? `The model says ${seen(heat.predicted)}.` : same ? `Still ${seen(heat.predicted)}.` : `Now ${seen(now.predicted)}, and was ${seen(heat.predicted)}.`;
  const facts = moved ? [["the answer moved (TVD)", three(moved.change)], ...(moved.weights.some(Boolean) ? [["the weights moved (JSD, at most 0.693)", three(moved.far)]] : [])] : [];
  find("facts").replaceChildren(...facts.map(([name, value]) => make("div", "", make("dt", "", name), make("dd", "", value))));
  for (const one of find("tools").querySelectorAll("button")) one.setAttribute("aria-pressed", String(one.dataset.how === how.how && Boolean(moved)));
}

const decide = latest(guarded(async (weights) => {
  const moved = await ask(`${here()}/weights`, { body: { ...asked(), weights, alike } });
  if (how.how === "given") answer(moved);
  find("board").dispatchEvent(new CustomEvent("answered", { bubbles: true }));
}));
let saving = null;
function given(weights) {
  how = { how: "given" };
  pressed += 1; // a button that is still asked comes too late
  find("found").textContent = USUAL;
  decide(weights);
  clearTimeout(saving);
  saving = setTimeout(() => remember(false), 300);
  chose(words_board.chosen());
}

async function press(wanted) {
  const of = heat, mine = ++pressed, late = () => of !== heat || mine !== pressed;
  tell(null);
  find("found").textContent = heat.linear ? "…" : "… this may take some seconds";
  try {
    const moved = await ask(`${here()}/button`, { body: { ...asked(), ...wanted } });
    if (late()) return;
    how = wanted;
    alike = wanted.how !== "own" && wanted.how !== "flip_set" && wanted.how !== "shuffled";
    words_board.draw(moved.weights);
    find("found").textContent = seen(moved.says);
    answer(wanted.how === "own" ? null : moved);
    remember(true);
  } catch (error) {
    if (late()) return;
    find("found").textContent = "";
    tell(error);
  }
}

function tools(about) {
  const place = find("tools"), made = [];
  const add = (name, text, more = () => ({})) => {
    const one = button(text, () => press({ how: name, ...more() }));
    one.dataset.how = name;
    made.push(one);
    return one;
  };
  add("own", "The model’s own");
  add("uniform", "All alike");
  add("shuffled", "Shuffle", () => ({ seed: Math.floor(Math.random() * 1e6) }));
  add("counterfactual", "Farthest, same answer");
  add("flip_set", "Fewest gone, other answer");
  if (about.twins.length) joined("twin", "A twin’s", about.twins.map((name) => [name, name]), "Twin");
  const others = about.sources.filter((one) => one.name !== "attention");
  if (others.length) joined("explainer", "An explainer’s", others.map((one) => [one.name, one.title]), "Explainer");
  place.replaceChildren(...made);

  function joined(name, text, choices, label) {
    const select = make("select", "");
    select.append(...choices.map(([value, title]) => option(value, title)));
    select.setAttribute("aria-label", label);
    if (name === "explainer") select.value = choices.some(([value]) => value === "leave_one_out") ? "leave_one_out" : choices[0][0];
    const one = button(text, () => press({ how: name, [name]: select.value }));
    one.dataset.how = name;
    select.addEventListener("change", () => press({ how: name, [name]: select.value }));
    made.push(make("span", "joined", one, select));
  }
}

function chose(i) {
  find("chosen").hidden = i === null || !heat;
  if (i === null || !heat) return;
  find("chosen-word").textContent = seen(heat.parts[2 * i + 1]);
  const weight = words_board.weights()[i];
  find("chosen-weight").textContent = heat.movable ? `weight ${three(weight)}, the model’s own ${three(heat.weights[i])}` : `score ${three(weight)}`;
}

async function changeWord(to, push = true) {
  const word = words_board.chosen();
  await effects([{ word, to }]);
  remember(push);
}

async function effects(changes) {
  const of = heat, found = await ask(`${here()}/words`, { body: { ...asked(), changes } });
  if (of !== heat) return;
  words = changes;
  find("effects").hidden = false;
  const named = changes.map((change) => `“${seen(heat.parts[2 * change.word + 1])}”${change.to ? ` replaced by “${seen(change.to)}”` : " deleted"}`).join(", ");
  find("effects-says").textContent = `${named}. ${seen(found.says)}`;
  find("effects-title").textContent = found.attention ? "Two effects of the same change" : "What the change does";
  show("effect-real", found.real, found.real.parts, found.real.probabilities);
  find("effect-attention").parentElement.hidden = !found.attention;
  if (found.attention) show("effect-attention", found.attention, heat.parts, found.attention.probabilities);
  find("effects-keep").onclick = guarded(async () => { find("text").value = found.real.text; await submit({ push: true }); find("text").scrollIntoView({ block: "center" }); });
}

function show(id, one, parts, probabilities) {
  find(id).replaceChildren(heatmap(parts, one.weights, { label: "Heatmap after the change" }), classes(heat.labels, probabilities, heat.probabilities));
}

function remember(push) {
  const { model: id, text, query } = view.value(), kept = { model: id, text, query };
  if (how.how === "given") Object.assign(kept, { how: "given", w: words_board.weights().map((w) => Number(w.toPrecision(4))).join(",") });
  else if (how.how !== "own") Object.assign(kept, how);
  if (words) kept.word = words.map((change) => `${change.word}:${change.to}`);
  write(kept, { push });
}

async function restore() {
  const found = read();
  view.set({ text: found.get("text"), query: found.get("query") });
  await view.load(found.get("model"));
  if (!found.get("text")) { find("stage").hidden = true; return begin(); }
  how = { how: "own" };
  words = null;
  if (!(await readText())) return;
  const name = found.get("how");
  if (name === "given" && found.get("w")) {
    const weights = found.get("w").split(",").map(Number);
    if (weights.length === heat.weights.length && weights.every((w) => w >= 0)) { words_board.draw(weights); how = { how: "given" }; await decide(weights); }
  } else if (name && heat.movable) {
    await press({ how: name, ...Object.fromEntries(["explainer", "twin"].filter((n) => found.get(n)).map((n) => [n, found.get(n)])), ...(found.get("seed") ? { seed: Number(found.get("seed")) } : {}) });
  }
  const changes = found.getAll("word").map((one) => ({ word: Number(one.split(":")[0]), to: one.slice(one.indexOf(":") + 1) }));
  if (changes.length) await effects(changes);
}

// Whoever comes without a text finds the first of the model's own to move.
async function begin() {
  const line = await view.first();
  if (!line || view.value().text.trim()) return;
  view.set(line);
  await submit();
}

find("word-zero").addEventListener("click", () => words_board.change(words_board.chosen(), 0));
find("word-delete").addEventListener("click", guarded(() => changeWord("")));
find("word-replace").addEventListener("submit", (event) => { event.preventDefault(); if (find("word-new").value.trim()) guarded(changeWord)(find("word-new").value); });
addEventListener("popstate", guarded(restore));
guarded(restore)();
