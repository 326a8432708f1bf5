// Helpers for all parts. Text is set as text, never as HTML, and only if it changed.

const BASE = new URL("../", import.meta.url); // the app's own address: this module is in its folder live/

function element(tag, className = "", ...children) {
  const made = document.createElement(tag);
  if (className) made.className = className;
  made.append(...children);
  return made;
}

function setText(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

function setAttribute(node, name, value) {
  if (node.getAttribute(name) !== String(value)) node.setAttribute(name, value);
}

// Give the node this number of children. Existing children stay.
function sized(node, count, make) {
  while (node.children.length > count) node.lastElementChild.remove();
  while (node.children.length < count) node.append(make());
}

// Streamlit leaves a gap around each of its elements, also around an empty one.
function streamlitElement(node) {
  return node.closest('[data-testid="stElementContainer"]') ?? node;
}

document.head.append(element("style", "", STYLE));
