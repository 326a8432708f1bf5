// Present mode: keys, shown in a line at the bottom, and the class of the document that makes the page large.

const PRESENT = "mahmc-present";

class Keys {
  constructor(root) {
    this.node = element("div", "live-keys");
    this.node.setAttribute("role", "toolbar");
    this.node.setAttribute("aria-label", "Keys");
    root.append(this.node);
    this.keys = [];
    this.listening = new AbortController();
    const { signal } = this.listening;
    window.addEventListener("keydown", (event) => this.pressed(event), { signal, capture: true });
    present(true);
  }

  show(keys) {
    this.keys = keys;
    sized(this.node, keys.length, () => this.newKey());
    keys.forEach(({ title, text }, i) => {
      setText(this.node.children[i].firstElementChild, title);
      setText(this.node.children[i].lastElementChild, text);
    });
  }

  // A key of the line is a button too, for screens that are touched. It never takes the focus from the page.
  newKey() {
    const button = element("button", "", element("kbd"), element("span"));
    button.type = "button";
    button.tabIndex = -1;
    button.addEventListener("click", () => this.act(this.keys[[...this.node.children].indexOf(button)]));
    return button;
  }

  pressed(event) {
    const { key, target, ctrlKey, metaKey, altKey } = event;
    if (ctrlKey || metaKey || altKey || isField(target)) return;
    const found = this.keys.find(({ keys }) => keys.includes(key));
    if (!found) return;
    event.preventDefault(); // a space would scroll the page
    event.stopPropagation(); // Streamlit has keys of its own
    this.act(found);
  }

  act({ action }) {
    this.count = (this.count ?? 0) + 1;
    this.send?.({ action, count: this.count }); // the count makes each press a change
  }

  dispose() {
    this.listening.abort();
    present(false);
  }
}

function isField(node) {
  return node.isContentEditable || Boolean(node.closest?.("input, textarea, select, [role=textbox], [role=combobox]"));
}

// Charts take their sizes from this class when they are drawn.
function present(on) {
  document.documentElement.classList.toggle(PRESENT, on);
  document.dispatchEvent(new Event(PRESENT));
}

const isPresenting = () => document.documentElement.classList.contains(PRESENT);
