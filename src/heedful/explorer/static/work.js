import { ask, Refused } from "./ask.js";
import { button, find, make, seen } from "./dom.js";

// Follow a piece of work until it is over; it goes on whether or not anybody looks.
export async function follow(id, { done }) {
  const place = find("work");
  for (;;) {
    const { work, result } = await ask(`/api/work/${encodeURIComponent(id)}`);
    draw(place, work);
    if (work.state === "done") { place.hidden = true; return done(result, work); }
    if (work.state === "failed") { place.hidden = true; throw new Refused(work.error); }
    if (work.state === "stopped") return undefined;
    await new Promise((resume) => { setTimeout(resume, 400); });
  }
}

function draw(place, work) {
  const { progress } = work, over = work.state === "stopped";
  place.hidden = false;
  const bar = document.createElement("progress");
  bar.setAttribute("aria-label", "How far it is");
  if (progress.total) { bar.max = progress.total; bar.value = progress.done; }
  const count = progress.total ? `${progress.done.toLocaleString("en")} of ${progress.total.toLocaleString("en")} ${progress.unit}` : "";
  const doing = { waiting: "Waiting for its turn", stopped: "Stopped", running: progress.doing || "Beginning" }[work.state] || work.state;
  const stop = button("Stop", () => ask(`/api/work/${encodeURIComponent(work.id)}`, { method: "DELETE" }), "small");
  const focused = place.contains(document.activeElement);
  place.replaceChildren(
    make("div", "head", make("p", "", make("strong", "", seen(doing))), over ? "" : stop),
    over ? make("p", "fine", seen(work.error)) : bar,
    make("p", "fine", [count, work.seconds ? `${Math.round(work.seconds)} s` : ""].filter(Boolean).join(" · ")),
    ...progress.said.slice(-3).map((line) => make("p", "fine", seen(line))),
  );
  if (focused && !over) stop.focus();
}
