import { button, make, spell, svg } from "./dom.js";

// A histogram whose range is chosen by dragging over it, or by writing its ends.
export function histogram(column, found, range, { changed, removed }) {
  const wide = 260, tall = 84, low = tall - 16, most = Math.max(1, ...found.of), edges = found.edges;
  const first = edges[0], last = edges[edges.length - 1], span = last - first || 1;
  const x = (value) => ((value - first) / span) * wide, value = (at) => first + (Math.max(0, Math.min(wide, at)) / wide) * span;
  const drawn = svg("svg", { viewBox: `0 0 ${wide} ${tall}`, role: "img", "aria-label": `How many texts have which ${column.title}` });
  found.of.forEach((count, i) => {
    const at = { x: x(edges[i]) + 0.5, width: Math.max(1, x(edges[i + 1]) - x(edges[i]) - 1) };
    const bar = (n, name) => svg("rect", { ...at, y: low - (n / most) * (low - 4), height: (n / most) * (low - 4), class: name });
    drawn.append(bar(count, "all"), bar(found.kept[i], "kept"));
  });
  drawn.append(svg("line", { x1: 0, x2: wide, y1: low, y2: low, class: "axis" }));
  if (edges.length) for (const [at, edge, anchor] of [[0, first, "start"], [wide, last, "end"]]) { const label = svg("text", { x: at, y: tall - 3, "text-anchor": anchor }); label.textContent = spell(edge); drawn.append(label); }
  const brush = svg("rect", { class: "brush", y: 0, height: low });
  drawn.append(brush);
  const draw = (a, b) => { brush.setAttribute("x", x(Math.max(a, first))); brush.setAttribute("width", Math.max(0, x(Math.min(b, last)) - x(Math.max(a, first)))); };
  if (range) draw(range[0] ?? first, range[1] ?? last);
  let start = null;
  const at = (event) => { const box = drawn.getBoundingClientRect(); return value(((event.clientX - box.left) / box.width) * wide); };
  drawn.addEventListener("pointerdown", (event) => { if (event.button) return; start = at(event); drawn.setPointerCapture(event.pointerId); });
  drawn.addEventListener("pointermove", (event) => { if (start !== null) draw(Math.min(start, at(event)), Math.max(start, at(event))); });
  drawn.addEventListener("pointercancel", () => { start = null; });
  drawn.addEventListener("pointerup", (event) => {
    if (start === null) return;
    const ends = [start, at(event)].sort((a, b) => a - b);
    start = null;
    // A click is no range: it lets go of the one there is.
    changed(ends[1] - ends[0] < span / 100 ? null : [ends[0] <= first ? null : Number(ends[0].toPrecision(5)), ends[1] >= last ? null : Number(ends[1].toPrecision(5))]);
  });
  const end = (name, i) => {
    const input = make("input", "");
    input.type = "text";
    input.inputMode = "decimal";
    input.value = range && range[i] !== null ? String(range[i]) : "";
    input.placeholder = spell(i ? last : first);
    input.setAttribute("aria-label", `${name} ${column.title}`);
    return input;
  };
  const least = end("least", 0), greatest = end("most", 1);
  const written = () => {
    const ends = [least, greatest].map((input) => (input.value.trim() === "" || Number.isNaN(Number(input.value)) ? null : Number(input.value)));
    changed(ends[0] === null && ends[1] === null ? null : ends);
  };
  for (const input of [least, greatest]) input.addEventListener("change", written);
  const remove = button("×", removed, "small");
  remove.setAttribute("aria-label", `Take ${column.title} away`);
  const title = make("h3", "", column.title, column.audit ? make("small", "", column.audit.replaceAll("_", " ")) : "");
  if (column.says) title.title = column.says;
  const missing = found.missing ? make("p", "fine", `${found.missing.toLocaleString("en")} texts have none`) : "";
  return make("figure", "chart card", make("div", "head", title, remove), drawn, make("div", "ends", least, "to", greatest), missing);
}
