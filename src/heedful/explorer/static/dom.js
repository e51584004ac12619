// Texts of others reach the page only as text nodes, never as markup.
export const make = (tag, name, ...children) => {
  const made = document.createElement(tag);
  if (name) made.className = name;
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
};
export const find = (id) => document.getElementById(id);
export const button = (text, action, name = "") => {
  const made = make("button", name, text);
  made.type = "button";
  made.addEventListener("click", action);
  return made;
};
export const option = (value, text) => {
  const made = make("option", "", text);
  made.value = value;
  return made;
};
// Characters that cannot be seen are shown by the pictures Unicode has for them.
export const seen = (text) =>
  text.replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f]/g, (c) => String.fromCharCode(0x2400 + c.charCodeAt(0)));
export const bdi = (text) => make("bdi", "", seen(text));
export const three = (number) => number.toFixed(3).replace("-", "−");
export const spell = (value) => {
  if (value === null || value === undefined) return "–";
  if (typeof value !== "number") return seen(String(value));
  if (Number.isInteger(value)) return value.toLocaleString("en").replace("-", "−");
  return (Math.abs(value) >= 0.001 ? value.toFixed(3) : value.toPrecision(1)).replace("-", "−");
};
export const svg = (tag, attributes = {}, ...children) => {
  const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
};
