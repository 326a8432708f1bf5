// Files to download, as links. A link is never made anew, so that no click is lost during an update.

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
  return element("a", "live-file", icon, element("span"));
}
