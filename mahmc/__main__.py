"""`python -m mahmc` is the command `mahmc`."""

import sys

from mahmc.cli import main

if __name__ == "__main__":
    sys.exit(main())
