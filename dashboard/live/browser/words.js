// Remarks are boxes with words; lines are words without a box.

const ICONS = { info: "i", warning: "!", error: "×" };

class Remarks {
  constructor(root) {
    this.node = element("div", "live-remarks");
    root.append(this.node);
  }

  show(remarks) {
    this.node.tabIndex = remarks.length ? 0 : -1; // so that the keyboard can show all of them
    this.node.toggleAttribute("data-more", remarks.length > 1);
    if (remarks.length > 1) setAttribute(this.node, "data-more", `+${remarks.length - 1} more`);
    sized(this.node, remarks.length, newRemark);
    remarks.forEach(({ text, tone }, i) => {
      const box = this.node.children[i];
      setAttribute(box, "data-tone", tone);
      setAttribute(box, "role", tone === "error" ? "alert" : "status");
      setText(box.firstElementChild, ICONS[tone] ?? ICONS.info);
      setText(box.lastElementChild, text);
    });
  }
}

function newRemark() {
  const icon = element("span", "icon");
  icon.setAttribute("aria-hidden", true);
  return element("div", "live-remark", icon, element("span", "text"));
}

class Lines {
  constructor(root) {
    this.node = element("div", "live-lines");
    root.append(this.node);
  }

  show(lines) {
    sized(this.node, lines.length, newWords);
    lines.forEach(({ text, strong, tone, lead, swatch }, i) => {
      const line = this.node.children[i];
      setAttribute(line, "data-tone", lead ? "" : tone);
      setAttribute(line, "data-strong", strong);
      setAttribute(line.firstElementChild, "data-tone", tone);
      setAttribute(line.firstElementChild, "style", swatch ? `--swatch: ${swatch}` : "");
      setText(line.firstElementChild, lead ? `${lead} ` : "");
      setText(line.lastElementChild, text);
    });
  }
}

function newWords() {
  return element("p", "", element("strong"), element("span"));
}
