"""Every case of cases.py on its JDKs (conftest.py)."""

from conftest import run_case


def test_case(request, case, major):
    run_case(request.node, case, major)
