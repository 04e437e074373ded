"""Differences that are meant or listed, recognised where random programs meet them."""

from __future__ import annotations

from typing import Any


def known(program: dict[str, Any], problem: str) -> str | None:
    """Why this difference is no failure, or None."""
    return None
