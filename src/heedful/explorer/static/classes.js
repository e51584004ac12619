import { bdi, make, three } from "./dom.js";

const MOST = 6;

// A bar for every class; a line marks where it was.
export function classes(labels, now, before = null) {
  const order = labels.map((_, i) => i), base = before || now;
  const best = now.indexOf(Math.max(...now));
  if (labels.length > MOST) order.sort((a, b) => Math.max(now[b], base[b]) - Math.max(now[a], base[a]));
  const made = order.slice(0, MOST).map((i) => {
    const fill = document.createElement("i"), meter = make("div", "meter", fill);
    fill.style.width = `${100 * now[i]}%`;
    if (before) {
      const mark = document.createElement("b");
      mark.style.left = `calc(${100 * before[i]}% - 1px)`;
      mark.title = `was ${three(before[i])}`;
      meter.append(mark);
    }
    return make("div", i === best ? "class first" : "class", make("p", "", make("span", "", bdi(labels[i])), make("span", "", three(now[i]))), meter);
  });
  if (labels.length > MOST) made.push(make("p", "fine", `and ${labels.length - MOST} other classes`));
  return make("div", "classes", ...made);
}
