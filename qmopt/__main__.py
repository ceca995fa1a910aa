"""The command ``qmopt``, and ``python -m qmopt``."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command line; an interrupt ends it quietly with 130, as a shell expects."""
    try:
        from qmopt.cli import app
        from qmopt.cli.terminal import claim_stdout

        claim_stdout()
        app(prog_name="qmopt")
    except KeyboardInterrupt:
        sys.exit(130)


if __name__ == "__main__":
    main()
