// The browser's address bar and history. The query contains the page's settings. It is replaced and never pushed,
// so Back leads to the previous page.

class AddressBar {
  // `navigate` gets the query when Back or Forward leads to another query of the same page.
  constructor(navigate) {
    this.navigate = navigate;
    this.path = pathOf(location); // until `show` sets it: a click may come earlier
    this.awaited = undefined; // the path of a page that was requested and has not run yet
    window.addEventListener("popstate", () => this.popped());
    window.addEventListener("click", (event) => this.clicked(event), true);
    window.addEventListener("keydown", () => (this.awaited = undefined), true);
    this.dropPushes();
  }

  // `path` is the path of the page that ran. After Back the address may already be that of another page.
  show(path, link) {
    this.path = path;
    if (path === this.awaited) this.awaited = undefined;
    if (path !== pathOf(location)) return;
    const url = new URL(location.href);
    const embedding = url.search.slice(1).split("&").filter((entry) => entry.startsWith("embed"));
    url.search = [link, ...embedding].filter(Boolean).join("&");
    if (url.href !== location.href) history.replaceState(history.state, "", url);
    this.search = location.search;
  }

  leave() {
    this.path = undefined;
  }

  // Another page was requested. Anything that this page sends now would make Streamlit run this page instead.
  isLeaving() {
    return this.awaited !== undefined && this.awaited !== this.path;
  }

  popped() {
    this.awaited = pathOf(location);
    if (this.awaited !== this.path || location.search === this.search) return;
    this.search = location.search;
    this.navigate(location.search);
  }

  clicked({ target, ctrlKey, metaKey, shiftKey }) {
    const link = ctrlKey || metaKey || shiftKey ? null : target.closest?.('a[data-testid$="NavLink"]');
    this.awaited = link ? pathOf(new URL(link.href)) : undefined;
  }

  // Do not add two kinds of entries to the history.
  //
  // Changes of the query: Streamlit pushes an entry when a script changes the query, and st.switch_page clears the query
  // before it switches. Back would lead to the same page without its settings.
  //
  // Pages that were left: Streamlit pushes the address of each page that runs. A run that began before Back may answer
  // later. Its entry, and the next entry of the page that Back led to, would remove the entries of Forward.
  dropPushes() {
    const push = history.pushState;
    history.pushState = (state, unused, url) => {
      const next = new URL(url ?? location.href, location.href);
      const isOfQuery = this.path === pathOf(location) && pathOf(next) === this.path && !next.hash;
      const isLate = this.awaited !== undefined && pathOf(next) !== this.awaited;
      if (!isOfQuery && !isLate) push.call(history, state, unused, url);
    };
  }
}

function pathOf({ pathname }) {
  return pathname.replace(/\/+$/, "");
}
