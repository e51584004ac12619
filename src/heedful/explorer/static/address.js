// What a view shows stands in its address, so that the address can be kept.
export const read = () => new URLSearchParams(location.search);

export function write(values, { push = false } = {}) {
  const found = new URLSearchParams();
  for (const [name, value] of Object.entries(values)) {
    for (const one of Array.isArray(value) ? value : [value]) {
      if (one !== null && one !== undefined && one !== "" && one !== false) found.append(name, one);
    }
  }
  const words = found.toString(), next = location.pathname + (words ? `?${words}` : "");
  if (next === location.pathname + location.search) return;
  history[push ? "pushState" : "replaceState"](null, "", next);
  for (const link of document.querySelectorAll(".top nav a")) follow(link);
}

// Another view begins with the same model and text.
export function follow(link) {
  const now = read(), kept = new URLSearchParams();
  for (const name of ["model", "text", "query"]) if (now.get(name)) kept.set(name, now.get(name));
  if (link.dataset.view === "papers") return;
  const words = kept.toString();
  link.setAttribute("href", `/${link.dataset.view}${words ? `?${words}` : ""}`);
}
