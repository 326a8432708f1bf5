"""Checks: is each sampler correct? Verdicts on targets with a known truth, with the findings behind them."""

from dashboard.pages import checks, page

here = page.opened("checks")  # read the address into the settings
checks.sidebar(here)  # widgets show the settings, and their events change them
shown = page.followed(here)  # make a view of settings and jobs, which the browser follows
checks.body(here, shown)  # lay out a place for each part of the view
checks.share(here, shown)  # show the link and the report
