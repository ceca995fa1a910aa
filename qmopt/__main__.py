"""The command ``qmopt``, and ``python -m qmopt``."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command line; an interrupt ends it quietly with 130, as a shell expects."""
    try:
        from qmopt.cli import app
        from qmopt.cli.terminal import claim_stdout, give_up_writing

        claim_stdout()
        try:
            app(prog_name="qmopt")
        except OSError as error:
            give_up_writing(error)
    except KeyboardInterrupt:
        sys.exit(130)


if __name__ == "__main__":
    main()
