// A link as a full address, with a button that copies it. Browsers allow scripts to copy only on https and on localhost:
// elsewhere the older command copies the selected text, and if even that fails the text stays selected.

class Link {
  constructor(root) {
    this.address = element("input");
    this.address.readOnly = true;
    setAttribute(this.address, "aria-label", "Link to these settings");
    this.button = element("button", "", "Copy link");
    this.button.type = "button";
    this.said = element("p", "live-link-said");
    setAttribute(this.said, "role", "status");
    this.address.addEventListener("focus", () => this.address.select());
    this.button.addEventListener("click", () => this.copy());
    root.append(element("div", "live-link", this.address, this.button), this.said);
  }

  // `path` is the page's path below the app's address, `query` its settings.
  show({ path, query }) {
    const url = new URL(path, BASE);
    url.search = query;
    if (this.address.value === url.href) return;
    this.address.value = url.href;
    setAttribute(this.address, "title", url.href);
    setText(this.said, "");
  }

  async copy() {
    const isCopied = await copied(this.address);
    setText(this.said, isCopied ? "Copied." : "The browser does not allow copying here: press Ctrl+C (⌘C on a Mac).");
  }
}

async function copied(field) {
  try {
    await navigator.clipboard.writeText(field.value);
    return true;
  } catch {
    field.focus();
    field.select();
    return document.execCommand("copy");
  }
}
