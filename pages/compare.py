"""Compare: samplers on one target at equal cost, with error bars, beside the paper's Table 1."""

from dashboard.pages import compare, page

here = page.opened("compare")  # read the address into the settings
compare.sidebar(here)  # widgets show the settings, and their events change them
shown = page.followed(here)  # make a view of settings and jobs, which the browser follows
compare.body(here, shown)  # lay out a place for each part of the view
compare.share(here, shown)  # show the link and the files
