// Streamlit calls the default export when the component mounts, at new data and at a change of theme.

const reader = new Reader();

export default function ({ data, parentElement, setTriggerValue }) {
  const node = parentElement.querySelector(".live");
  if (data.kind === "feed") {
    setAttribute(node, "class", "live live-feed");
    setAttribute(node, "role", "alert");
    streamlitElement(node).style.position = "absolute"; // takes no room
    reader.follow(node, data, setTriggerValue);
  } else reader.mount(node, data, setTriggerValue);
  // Streamlit also runs this when newer data overtakes a call: only a node that has left the page is done with.
  return () => node.isConnected || (data.kind === "feed" ? reader.leave(node) : reader.unmount(node));
}
