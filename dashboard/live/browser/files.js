// Links to files. No click is lost: a link's node is never replaced, and a press that begins on a link also ends on the
// link, even if the page above grows or shrinks before the button is released.

class Files {
  constructor(root) {
    this.node = element("div", "live-files");
    root.append(this.node);
  }

  show(files) {
    sized(this.node, files.length, newFile);
    files.forEach(({ label, href, name, help }, i) => {
      const link = this.node.children[i];
      setAttribute(link, "href", new URL(href, BASE));
      setAttribute(link, "download", name);
      setAttribute(link, "title", help ?? "");
      setText(link.lastElementChild, label);
    });
  }
}

function newFile() {
  const icon = element("span", "icon", "↓");
  icon.setAttribute("aria-hidden", true);
  const link = element("a", "live-file", icon, element("span"));
  link.draggable = false;
  link.addEventListener("pointerdown", ({ pointerId }) => link.setPointerCapture(pointerId));
  return link;
}
