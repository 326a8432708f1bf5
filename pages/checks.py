"""Checks: is each sampler right? Verdicts on targets with a known truth, with grounds one can look at."""

from dashboard.pages import checks, page

here = page.opened("checks")  # the address becomes settings
checks.sidebar(here)  # widgets show the settings, and their events change them
shown = page.followed(here)  # settings and jobs become a view, which the browser follows
checks.body(here, shown)  # a place for each part of the view
checks.share(here, shown)  # the link, and the report
