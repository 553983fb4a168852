"""`python -m sandbox`: the command line."""

import sys

from sandbox.cli import main

if __name__ == "__main__":
    sys.exit(main())
