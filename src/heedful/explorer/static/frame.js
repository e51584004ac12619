import { follow } from "./address.js";

// The token has done its work: the browser keeps a cookie, and the address can be shown to others.
const here = new URL(location.href);
if (here.searchParams.has("token")) {
  here.searchParams.delete("token");
  history.replaceState(null, "", here.pathname + here.search + here.hash);
}
for (const link of document.querySelectorAll(".top nav a")) follow(link);
