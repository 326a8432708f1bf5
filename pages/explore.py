"""Explore: pick a target and a sampler, tune, run, and watch the chains."""

from dashboard.pages import explore, page

here = page.opened("explore")  # the address becomes settings
explore.sidebar(here)  # widgets show the settings, and their events change them
shown = page.followed(here)  # settings and jobs become a view, which the browser follows
explore.body(here, shown)  # a place for each part of the view
explore.share(here, shown)  # the link, the program, and files
