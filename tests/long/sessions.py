"""What tests/long/examples and tests/long/newcomer share: a session that a page shows, beside a real one."""

import os
import re

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
# What differs from run to run, and what takes its place.
VARIES = ((r"--gc \d+", "--gc PID"), (r" \(\d+\)$", " (PID)"), (r"\d[\d.,]* (?:B|[KMG]iB)", "SIZE"),
          (r"^Open: .*\n", ""), (r"^Clean: .*\n", "Clean\n"))


def masked(text):
    """The lines, without what differs from run to run: process ids, sizes, and what is open or clean."""
    for pattern, instead in VARIES:
        text = re.sub(pattern, instead, text, flags=re.M)
    return text.strip().splitlines()


def difference(shown, real):
    """The lines in which they differ, as a text; empty if they do not."""
    shown, real = masked(shown), masked(real)
    if shown == real:
        return ""
    return "\n".join(["not what the page shows:", *("    " + line for line in real if line not in shown),
                      *("    page: " + line for line in shown if line not in real)])
