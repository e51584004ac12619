import { find } from "./dom.js";

export class Refused extends Error {}

// Ask the server; what goes wrong is one sentence.
export async function ask(path, { body, method, signal } = {}) {
  let answer;
  try {
    answer = await fetch(path, {
      method: method || (body === undefined ? "GET" : "POST"),
      headers: body === undefined ? {} : { "content-type": "application/json" },
      body: body === undefined ? undefined : JSON.stringify(body),
      signal,
    });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Refused("The explorer does not answer: it may have ended. Start it again, and open the address that it prints.");
  }
  const said = await answer.json().catch(() => ({ error: `The explorer answered with ${answer.status}, and no reason.` }));
  if (!answer.ok) throw new Refused(said.error || `The explorer answered with ${answer.status}.`);
  return said;
}

export const model = (id) => `/api/models/${encodeURIComponent(id)}`;

export function tell(error) {
  if (error && error.name === "AbortError") return;
  const line = find("fault");
  line.hidden = !error;
  line.textContent = error ? error.message : "";
  if (error && !(error instanceof Refused)) console.error(error);
}

// Do something, and say what went wrong with it.
export const guarded = (action) => async (...given) => {
  try {
    tell(null);
    return await action(...given);
  } catch (error) {
    tell(error);
    return undefined;
  }
};

// Ask for the latest of many changes, one at a time: what came in between is skipped.
export function latest(action) {
  let waiting = null, busy = false;
  return async (...given) => {
    waiting = given;
    if (busy) return;
    busy = true;
    while (waiting) {
      const now = waiting;
      waiting = null;
      await action(...now);
    }
    busy = false;
  };
}
