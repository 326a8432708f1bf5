"""Overview: what this is, starting points, the samplers in a sentence each, the pages, and the targets."""

from dashboard.pages import overview, page

here = page.opened("overview")
page.followed(here)
overview.body()
