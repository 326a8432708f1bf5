// The browser's address bar, history and title. The page's settings are its query, which is replaced and never pushed:
// Back leads to the page before.

class AddressBar {
  // `navigate` is told the query that Back or Forward led to, on the same page.
  constructor(navigate) {
    this.navigate = navigate;
    this.path = pathOf(location); // until a page follows: a click may come before
    this.awaited = undefined; // the path of the page that was asked for and has not run yet
    window.addEventListener("popstate", () => this.popped());
    window.addEventListener("click", (event) => this.clicked(event), true);
    window.addEventListener("keydown", () => (this.awaited = undefined), true);
    this.dropPushes();
  }

  // `path` is the page's own: after Back the address may already be another page's.
  show(path, link, title) {
    this.path = path;
    if (path === this.awaited) this.awaited = undefined;
    if (path !== pathOf(location)) return;
    const url = new URL(location.href);
    const embedding = url.search.slice(1).split("&").filter((entry) => entry.startsWith("embed"));
    url.search = [link, ...embedding].filter(Boolean).join("&");
    if (url.href !== location.href) history.replaceState(history.state, "", url);
    this.search = location.search;
    if (title && document.title !== title) document.title = title;
  }

  leave() {
    this.path = undefined;
  }

  // Another page was asked for. Whatever this page still sends would have Streamlit run this page instead.
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

  // Two kinds of entries are not made.
  //
  // Of a query: Streamlit pushes one when a script changes the query, and st.switch_page clears the query before it
  // switches. Back would lead to the same page without its settings.
  //
  // Of a page that has been left: Streamlit pushes the address of each page that runs. A run that began before Back may
  // answer after it; its entry, and the next one of the page that Back led to, would cut off the way Forward.
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
