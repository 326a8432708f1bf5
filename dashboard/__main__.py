"""Serve the dashboard: `python -m dashboard [Streamlit's options]`.

As `streamlit run app.py`, but what pages need is imported before the first visitor comes instead of while he waits.
"""

import sys
from pathlib import Path

from streamlit.web import cli

import dashboard.comparing
import dashboard.explore
import dashboard.pins
import dashboard.report
import dashboard.saving  # noqa: F401
from dashboard.estimates import preload

if __name__ == "__main__":
    print("Loading what the pages need …", flush=True)
    preload().join()
    sys.argv = ["streamlit", "run", str(Path(__file__).parent.parent / "app.py"), *sys.argv[1:]]
    sys.exit(cli.main())
