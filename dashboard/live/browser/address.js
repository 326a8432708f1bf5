// The browser's address bar, history and title. The page's settings are its query, which is replaced and never pushed:
// Back leads to the page before.

class AddressBar {
  // `navigate` is told the query that Back or Forward led to, on the same page.
  constructor(navigate) {
    this.navigate = navigate;
    this.path = location.pathname; // until a page follows: a click may come before
    window.addEventListener("popstate", () => this.popped());
    this.dropPushesOfQueries();
  }

  // `path` is the page's own: after Back the address may already be another page's.
  show(path, link, title) {
    this.path = path;
    if (path !== location.pathname) return;
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

  popped() {
    if (location.pathname !== this.path || location.search === this.search) return;
    this.search = location.search;
    this.navigate(location.search);
  }

  // Streamlit pushes an entry when a script changes the query, and st.switch_page clears the query before it switches:
  // two entries, and Back would lead to the same page without its settings. An entry for another page stays.
  dropPushesOfQueries() {
    const push = history.pushState;
    history.pushState = (state, unused, url) => {
      const next = new URL(url ?? location.href, location.href);
      const isOurs = this.path === location.pathname && next.pathname === this.path && !next.hash;
      if (!isOurs) push.call(history, state, unused, url);
    };
  }
}
