"""The live transport: a page lays out places, and the browser fetches their content, whether work runs or not."""
