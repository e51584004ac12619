import { make, seen, three } from "./dom.js";

// Shades go by the square root, as in the report: a weight of a quarter has half of the colour.
export const level = (part) => Math.round(20 * Math.sqrt(Math.min(Math.abs(part), 1)));
export const shade = (part) => `${part < 0 ? "against n" : "w"}${level(part)}`;

// Scores that are no weights are drawn as parts of all their sizes together.
export function shares(weights) {
  const negative = weights.some((weight) => weight < 0), total = weights.reduce((sum, w) => sum + Math.abs(w), 0);
  if (!negative && total <= 1.0001 && total >= 0.9999) return weights;
  return weights.map((weight) => (total ? weight / total : 0));
}

export function heatmap(parts, weights, { marked = [], label = "Heatmap" } = {}) {
  const heat = make("p", "heat"), parted = shares(weights), marks = new Set(marked);
  heat.dir = "auto";
  weights.forEach((weight, i) => {
    const word = make("span", shade(parted[i]) + (marks.has(i) ? " marked" : ""), seen(parts[2 * i + 1]));
    word.title = `${seen(parts[2 * i + 1]).slice(0, 60)}: ${three(weight)}`;
    heat.append(seen(parts[2 * i]), word);
  });
  heat.append(seen(parts[parts.length - 1]));
  heat.setAttribute("role", "group");
  heat.setAttribute("aria-label", label);
  return heat;
}
