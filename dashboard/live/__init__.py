"""The live transport: a page lays out places, the browser fetches what is in them, at rest as well as during work."""
