import { ask, guarded, Refused } from "./ask.js";
import { button, find, make, seen } from "./dom.js";

// Follow a piece of work until it is over; it goes on whether or not anybody looks.
export async function follow(id, { done, still = () => true }) {
  const place = find("work"), draw = panel(place, id);
  for (;;) {
    const { work, result } = await ask(`/api/work/${encodeURIComponent(id)}`);
    if (!still()) return undefined; // other work is followed now
    draw(work);
    if (work.state === "done") { place.hidden = true; return done(result, work); }
    if (work.state === "failed") { place.hidden = true; throw new Refused(work.error); }
    if (work.state === "stopped") return undefined;
    await new Promise((resume) => { setTimeout(resume, 400); });
  }
}

// Its parts stay while it goes on: a button that is made anew between press and release would lose the click.
function panel(place, id) {
  const doing = make("strong", ""), bar = document.createElement("progress"), error = make("p", "fine"), count = make("p", "fine"), said = make("div", "");
  const stop = button("Stop", guarded(() => ask(`/api/work/${encodeURIComponent(id)}`, { method: "DELETE" })), "small");
  bar.setAttribute("aria-label", "How far it is");
  place.replaceChildren(make("div", "head", make("p", "", doing), stop), error, bar, count, said);
  return (work) => {
    const { progress } = work, over = work.state === "stopped";
    place.hidden = false;
    doing.textContent = seen({ waiting: "Waiting for its turn", stopped: "Stopped", running: progress.doing || "Beginning" }[work.state] || work.state);
    stop.hidden = bar.hidden = over;
    error.hidden = !over;
    error.textContent = seen(work.error);
    if (progress.total) { bar.max = progress.total; bar.value = progress.done; } else bar.removeAttribute("value");
    const parts = progress.total ? `${progress.done.toLocaleString("en")} of ${progress.total.toLocaleString("en")} ${progress.unit}` : "";
    count.textContent = [parts, work.seconds ? `${Math.round(work.seconds)} s` : ""].filter(Boolean).join(" · ");
    said.replaceChildren(...progress.said.slice(-3).map((line) => make("p", "fine", seen(line))));
  };
}
