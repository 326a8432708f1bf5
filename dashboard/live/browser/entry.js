// Streamlit calls the default export when the component mounts, when data change, and when the theme changes.

const reader = new Reader();

export default function ({ data, parentElement, setTriggerValue }) {
  const node = parentElement.querySelector(".live");
  if (data.kind === "feed") {
    setAttribute(node, "class", "live live-feed");
    setAttribute(node, "role", "alert");
    streamlitElement(node).style.position = "absolute"; // uses no space
    reader.follow(node, data, setTriggerValue);
  } else reader.mount(node, data, setTriggerValue);
  // Streamlit also calls this when newer data replace a call. Only a node that has left the page is finished.
  return () => node.isConnected || (data.kind === "feed" ? reader.leave(node) : reader.unmount(node));
}
