import { read, write } from "./address.js";
import { ask, guarded, latest, model } from "./ask.js";
import { bdi, button, find, make, option, seen, spell } from "./dom.js";
import { heatmap } from "./heat.js";
import { histogram } from "./histogram.js";
import { follow } from "./work.js";

const SIZE = 50;
let about = null, state = fresh(), work = null, turn = 0;
function fresh() { return { columns: null, ranges: new Map(), words: new Map(), search: "", sort: null, down: false, page: 0, text: null }; }
const here = () => `${model(find("model").value)}/audits`;
const one = () => `${here()}/${encodeURIComponent(find("audit").value)}`;
const column = (name) => about.columns.find((each) => each.name === name);

function filters() {
  const found = new URLSearchParams();
  for (const [name, [low, high]] of state.ranges) found.append("where", `${name}:${low ?? ""}:${high ?? ""}`);
  for (const [name, word] of state.words) found.append("is", `${name}:${word}`);
  if (state.search) found.set("search", state.search);
  return found;
}

const refresh = latest(guarded(async () => {
  const wanted = filters(), rows = new URLSearchParams(wanted);
  const shown = state.columns.filter((name) => column(name));
  for (const name of shown) rows.append("columns", name);
  if (state.sort) { rows.set("sort", state.sort); rows.set("down", String(state.down)); }
  rows.set("offset", String(state.page * SIZE));
  rows.set("limit", String(SIZE));
  const numbers = shown.filter((name) => column(name).kind === "number");
  const bars = (name) => { const asked = new URLSearchParams(wanted); asked.set("column", name); return ask(`${one()}/bars?${asked}`); };
  const [page, ...charts] = await Promise.all([ask(`${one()}/rows?${rows}`), ...numbers.map(bars)]);
  const last = Math.max(0, Math.ceil(page.count / SIZE) - 1);
  if (state.page > last) { state.page = last; remember(false); refresh(); return; }
  const active = document.activeElement && document.activeElement.getAttribute("aria-label");
  find("charts").replaceChildren(...numbers.map((name, i) => histogram(column(name), charts[i], state.ranges.get(name), {
    changed: (range) => { if (range) state.ranges.set(name, range); else state.ranges.delete(name); state.page = 0; remember(true); refresh(); },
    removed: () => { state.columns = state.columns.filter((each) => each !== name); state.ranges.delete(name); remember(true); choices(); refresh(); },
  })));
  table(page, shown);
  if (active) document.querySelector(`[aria-label="${CSS.escape(active)}"]`)?.focus();
  find("whole").dispatchEvent(new CustomEvent("answered"));
}));

function table(page, shown) {
  const pages = Math.max(1, Math.ceil(page.count / SIZE));
  find("count").textContent = page.count === page.of ? `All ${page.of.toLocaleString("en")} texts.` : `${page.count.toLocaleString("en")} of ${page.of.toLocaleString("en")} texts.`;
  find("page").textContent = `Page ${(state.page + 1).toLocaleString("en")} of ${pages.toLocaleString("en")}`;
  find("back").disabled = state.page === 0;
  find("on").disabled = state.page >= pages - 1;
  const kinds = page.columns.map((name) => column(name).kind);
  const head = page.columns.map((name, i) => {
    const sorted = state.sort === name, sort = button(`${name === "row" ? "no." : column(name).title}${sorted ? (state.down ? " ↓" : " ↑") : ""}`, () => {
      state.down = sorted ? !state.down : kinds[i] === "number" && name !== "row";
      state.sort = name;
      state.page = 0;
      remember(true);
      refresh();
    });
    if (column(name).says) sort.title = column(name).says;
    const cell = make("th", kinds[i] === "number" ? "n" : "", sort);
    cell.scope = "col";
    if (sorted) cell.setAttribute("aria-sort", state.down ? "descending" : "ascending");
    return cell;
  });
  const body = page.rows.map(({ values }) => {
    const number = values[0];
    const line = make("tr", "", ...values.map((value, i) => {
      if (kinds[i] === "text") { const open = button("", () => open_text(number, true)), cut = make("span", "cut", seen(String(value ?? ""))); cut.dir = "auto"; open.append(cut); return make("td", "text", open); }
      if (kinds[i] === "number") return make("td", "n", i === 0 ? spell(number + 1) : spell(value));
      return make("td", "", value === null ? "–" : bdi(value));
    }));
    line.addEventListener("click", (event) => { if (!event.target.closest("button")) open_text(number, true); });
    return line;
  });
  find("table").replaceChildren(make("thead", "", make("tr", "", ...head)), make("tbody", "", ...body));
  void shown;
}

const open_text = guarded(async (row, push = false) => {
  const found = await ask(`${one()}/texts/${row}`), box = find("one");
  state.text = row;
  const close = button("Close", () => box.close()), title = make("h2", "", `Text ${row + 1} · `, bdi(found.predicted), ` ${found.probability.toFixed(3)}`);
  title.id = "one-title";
  if (found.label !== null) title.append(found.label === found.predicted ? ", rightly" : ", labelled ", found.label === found.predicted ? "" : bdi(found.label));
  const maps = found.maps.map((each, i) => make("div", "", make("h3", "", each.title, each.probability === null ? "" : ` · ${each.probability.toFixed(3)}`), heatmap(found.parts, each.weights, { label: each.title, marked: i === 0 ? found.marks || [] : [] })));
  const tries = make("a", "", "Try it");
  tries.href = `/try?${new URLSearchParams({ model: find("model").value, text: found.text, ...(found.query ? { query: found.query } : {}) })}`;
  const values = make("dl", "values", ...Object.entries(found.values).filter(([name]) => name !== "row").map(([name, value]) => make("div", "", make("dt", "", seen(name.replaceAll("_", " ").replace(".", " · "))), make("dd", "", spell(value)))));
  const query = found.query ? make("p", "", seen(found.query)) : "";
  const marks = found.marks_says ? make("p", "fine", seen(found.marks_says)) : "";
  box.replaceChildren(make("div", "head", title, close), query, ...maps, marks, make("p", "", tries), values);
  if (!box.open) box.showModal();
  remember(push);
});
find("one").addEventListener("close", () => { state.text = null; remember(false); });

function choices() {
  const left = about.columns.filter((each) => each.kind === "number" && each.name !== "row" && !state.columns.includes(each.name));
  find("add").replaceChildren(option("", "choose …"), ...left.map((each) => option(each.name, `${each.audit ? `${each.audit.replaceAll("_", " ")}: ` : ""}${each.title}`)));
  const search = make("input", "");
  search.type = "search";
  search.id = "search";
  search.value = state.search;
  let timer = null;
  search.addEventListener("input", () => { clearTimeout(timer); timer = setTimeout(() => { state.search = search.value; state.page = 0; remember(false); refresh(); }, 250); });
  const field = (id, text, input) => { const label = make("label", "", text); label.htmlFor = id; return make("div", "field", label, input); };
  const words = about.columns.filter((each) => each.kind === "word" && each.choices.length > 1 && !each.audit).map((each) => {
    const select = make("select", "");
    select.id = `word-${each.name}`;
    select.append(option("", "all"), ...each.choices.map((word) => option(word, seen(word))));
    select.value = state.words.get(each.name) || "";
    select.addEventListener("change", () => { if (select.value) state.words.set(each.name, select.value); else state.words.delete(each.name); state.page = 0; remember(true); refresh(); });
    return field(select.id, each.title, select);
  });
  find("filters").replaceChildren(field("search", "Search the texts", search), ...words, button("All texts", () => { state = { ...fresh(), columns: state.columns }; choices(); remember(true); refresh(); }));
}

function remember(push) {
  const found = filters();
  write({ model: find("model").value, audit: find("audit").value, columns: state.columns, where: found.getAll("where"), is: found.getAll("is"), search: state.search, sort: state.sort, down: state.down ? 1 : null, page: state.page || null, open: state.text === null ? null : String(state.text), work }, { push });
}

async function audits(wanted) {
  const all = await ask(here());
  find("audit").replaceChildren(...all.map((each) => option(each.id, `${each.data} · ${each.texts.toLocaleString("en")} texts · ${each.questions} questions${each.source === "attention" ? "" : ` · ${each.source}`}`)));
  if (all.some((each) => each.id === wanted)) find("audit").value = wanted;
  find("whole").hidden = !all.length;
  find("none").hidden = all.length > 0;
  find("none").textContent = "This model was not audited yet: audit it here, or with heedful audit.";
  if (!all.length) find("audit-says").textContent = "";
  return all.length > 0;
}

async function show(found) {
  about = await ask(one());
  find("audit-says").textContent = seen(`${about.verdict}. ${about.finding}`.replace(/^./, (c) => c.toUpperCase()));
  state = fresh();
  if (found) {
    const asked = found.getAll("columns").filter((name) => column(name));
    if (asked.length) state.columns = asked;
    for (const part of found.getAll("where")) { const [, name, low, high] = part.match(/^(.+):([^:]*):([^:]*)$/) || []; if (column(name)) state.ranges.set(name, [low, high].map((end) => (end === "" ? null : Number(end)))); }
    for (const part of found.getAll("is")) { const name = part.split(":")[0]; if (column(name)) state.words.set(name, part.slice(name.length + 1)); }
    state.search = found.get("search") || "";
    if (column(found.get("sort"))) state.sort = found.get("sort");
    state.down = found.get("down") === "1";
    state.page = Math.max(0, Number(found.get("page")) || 0);
  }
  state.columns = state.columns || about.shown;
  choices();
  await refresh();
  if (found && found.get("open") !== null) await open_text(Number(found.get("open")));
}

async function watch() {
  const mine = ++turn;
  await follow(work, { still: () => mine === turn, done: guarded(async (result) => { work = null; if (await audits(result.audit)) await show(null); remember(true); }) });
}

// An audit of this model that is under way, of whoever began it.
async function running() {
  const mine = ++turn, id = find("model").value;
  find("work").hidden = true;
  const found = (await ask("/api/work")).find((each) => each.asked.kind === "audit" && each.asked.model === id && ["waiting", "running"].includes(each.state));
  if (mine !== turn) return;
  work = found ? found.id : null;
  if (work) await watch();
}

async function restore() {
  const found = read();
  if ([...find("model").options].some((each) => each.value === found.get("model"))) find("model").value = found.get("model");
  if (find("one").open) find("one").close();
  if (await audits(found.get("audit"))) await show(found);
  await running();
}

find("begin").addEventListener("click", () => { find("begin-form").hidden = !find("begin-form").hidden; find("begin").setAttribute("aria-expanded", String(!find("begin-form").hidden)); });
find("begin-now").addEventListener("click", guarded(async () => {
  work = (await ask("/api/work", { body: { kind: "audit", model: find("model").value, quick: find("quick").checked } })).id;
  find("begin-form").hidden = true;
  await watch();
}));
find("model").addEventListener("change", guarded(async () => { work = null; if (await audits(null)) await show(null); remember(true); await running(); }));
find("audit").addEventListener("change", guarded(async () => { await show(null); remember(true); }));
find("add").addEventListener("change", () => { if (find("add").value) { state.columns.push(find("add").value); choices(); remember(true); refresh(); } });
find("back").addEventListener("click", () => { state.page -= 1; remember(true); refresh(); });
find("on").addEventListener("click", () => { state.page += 1; remember(true); refresh(); });
find("asking").addEventListener("submit", (event) => event.preventDefault());
addEventListener("popstate", guarded(restore));
guarded(restore)();
