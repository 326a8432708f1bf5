"""Explore: choose a target and a sampler, tune, run, and watch the chains."""

from dashboard.pages import explore, page

here = page.opened("explore")  # read the address into the settings
explore.sidebar(here)  # widgets show the settings, and their events change them
shown = page.followed(here)  # make a view of settings and jobs, which the browser follows
explore.body(here, shown)  # lay out a place for each part of the view
explore.share(here, shown)  # show the link, the program and the files
