// Helpers for all parts. Text is only ever set as text, and only what changed is set.

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

// As many children as there are items: those that are there stay.
function sized(node, count, make) {
  while (node.children.length > count) node.lastElementChild.remove();
  while (node.children.length < count) node.append(make());
}

// Streamlit leaves a gap around each of its elements, also around an empty one.
function streamlitElement(node) {
  return node.closest('[data-testid="stElementContainer"]') ?? node;
}

document.head.append(element("style", "", STYLE));
