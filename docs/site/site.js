// Tables that scroll sideways can be reached by keys.
const reach = () => document.querySelectorAll(".md-typeset__scrollwrap").forEach((wrap) => { wrap.tabIndex = 0; });
if (window.document$) window.document$.subscribe(() => setTimeout(reach, 0));
else addEventListener("load", reach);
