// A button above a chart that opens the list of its forms. The addresses are made when the list opens, because they
// contain the zoom of that moment.

const FORMS = [
  ["PDF", "pdf", "For LaTeX and printing"],
  ["SVG", "svg", "For web pages and drawing programs"],
  ["PNG", "png", "For slides and documents, 300 dots an inch"],
  ["Python", "python", "A program that draws this figure, and its data"],
];

class SaveFigure {
  // `address` gives the address of the chart in a form; nothing as long as there is none.
  constructor(address) {
    this.address = address;
    const icon = element("span", "icon", "↓");
    icon.setAttribute("aria-hidden", true);
    this.button = element("button", "live-save-button", icon, element("span", "", " Save figure"));
    this.button.type = "button";
    this.list = element("div", "live-save-list");
    this.files = new Files(this.list);
    this.node = element("div", "live-save", this.button, this.list);
    this.listening = new AbortController();
    const { signal } = this.listening;
    this.button.addEventListener("click", () => this.open(this.list.hidden));
    this.node.addEventListener("keydown", ({ key }) => key === "Escape" && this.leave());
    this.list.addEventListener("click", ({ target }) => target.closest("a") && this.leave());
    window.addEventListener("pointerdown", ({ target }) => this.node.contains(target) || this.open(false), { signal });
    window.addEventListener("focusin", ({ target }) => this.node.contains(target) || this.open(false), { signal });
    this.open(false);
  }

  // What the chart is called.
  of(title) {
    setAttribute(this.button, "aria-label", `Save figure: ${title}`);
    setAttribute(this.button, "title", "Save figure: PDF, SVG, PNG or a Python program");
  }

  open(isOpen) {
    this.list.hidden = !isOpen;
    setAttribute(this.button, "aria-expanded", isOpen);
    if (isOpen) this.files.show(FORMS.map(([label, form, help]) => ({ label, help, name: "", href: this.address(form) })));
  }

  leave() {
    if (this.list.hidden) return;
    this.open(false);
    this.button.focus();
  }

  dispose() {
    this.listening.abort();
  }
}
