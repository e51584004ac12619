import { ask, guarded, model } from "./ask.js";
import { bdi, button, find, make, option, seen } from "./dom.js";

// The form that all views share: a model, a text of one's own or a picked one, and for some models a question.
export function asking({ submitted, changed = () => {} }) {
  const form = find("asking"), text = find("text"), query = find("query"), choice = find("model");
  const state = { about: null };
  let offset = 0, timer = null;

  const value = () => ({ model: choice.value, text: text.value, query: find("query-field").hidden ? null : query.value || null });

  async function load(id) {
    if ([...choice.options].some((one) => one.value === id)) choice.value = id;
    const about = await ask(model(choice.value));
    state.about = about;
    find("query-field").hidden = about.queries === false;
    const cannot = find("cannot");
    cannot.hidden = !about.cannot.length;
    cannot.textContent = about.cannot.join(" ");
    for (const id of ["pick", "any"]) find(id).disabled = about.data === null;
    find("picker").hidden = true;
    find("pick").setAttribute("aria-expanded", "false");
    await changed(about);
    return about;
  }

  const texts = (from, limit) =>
    ask(`${model(choice.value)}/texts?${new URLSearchParams({ words: find("words").value, offset: from, limit })}`);

  function take(line) {
    text.value = line.text;
    query.value = line.query || "";
    find("picker").hidden = true;
    find("pick").setAttribute("aria-expanded", "false");
    submitted({ push: true });
  }

  async function more(first) {
    if (first) { offset = 0; find("picker-texts").replaceChildren(); }
    const found = await texts(offset, 20);
    offset += found.texts.length;
    find("picker-count").textContent = `${found.count.toLocaleString("en")} of ${found.of.toLocaleString("en")} texts of ${seen(found.data)}`;
    find("picker-more").hidden = offset >= found.count;
    find("picker-texts").append(
      ...found.texts.map((line) => {
        const one = button("", () => take(line));
        one.dir = "auto";
        one.append(seen(line.text.length > 240 ? `${line.text.slice(0, 240)} …` : line.text));
        if (line.label !== null) one.append(make("small", "", bdi(line.label)));
        return make("li", "", one);
      }),
    );
  }

  find("pick").addEventListener("click", guarded(async () => {
    const open = find("picker").hidden;
    find("picker").hidden = !open;
    find("pick").setAttribute("aria-expanded", String(open));
    if (open) { await more(true); find("words").focus(); }
  }));
  find("words").addEventListener("input", () => { clearTimeout(timer); timer = setTimeout(guarded(() => more(true)), 200); });
  find("words").addEventListener("keydown", (event) => { if (event.key === "Enter") event.preventDefault(); });
  find("picker-more").addEventListener("click", guarded(() => more(false)));
  find("any").addEventListener("click", guarded(async () => {
    find("words").value = "";
    const { of } = await texts(0, 1);
    const found = await texts(Math.floor(Math.random() * of), 1);
    if (found.texts.length) take(found.texts[0]);
  }));
  choice.addEventListener("change", guarded(async () => { await load(choice.value); if (text.value.trim()) submitted({ push: true }); }));
  form.addEventListener("submit", (event) => { event.preventDefault(); submitted({ push: true }); });
  text.addEventListener("keydown", (event) => { if (event.key === "Enter" && !event.shiftKey) { event.preventDefault(); submitted({ push: true }); } });

  const first = async () => (state.about && state.about.data !== null ? (await ask(`${model(choice.value)}/texts?limit=1`)).texts[0] : undefined);

  return { state, value, load, first, set: (given) => { text.value = given.text || ""; query.value = given.query || ""; }, choices: (id, lines, chosen) => {
    find(id).replaceChildren(...lines.map((line) => option(line.name, line.title)));
    if (chosen && lines.some((line) => line.name === chosen)) find(id).value = chosen;
  } };
}
