"""Columns of text: kinds that can be told apart, or names and numbers in disguise, which cannot."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence

from mercer.cli.user_error import UserError
from mercer.io import Table
from mercer.selection.date_features import are_dates
from mercer.selection.preparation import is_name
from mercer.words import listed

MOST_TOLD = 3  # columns that a message tells of one by one
FEW = 5  # different numbers, with a sign or a unit, may well be kinds
MOSTLY = 0.8  # of the texts must be numbers for the others to be the exception
PLAIN = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
MONEY = r"[$€£¥₹₩₽₺]|R\$|kr\.?|zł|USD|EUR|GBP|CHF|JPY|CNY|INR"
DRESSED = re.compile(
    rf"\(?[+-]?\s?(?P<money>{MONEY})?\s?[+-]?"
    rf"(\d{{1,3}}(?P<group>[ ,.'’\u00a0\u202f])\d{{3}}((?P=group)\d{{3}})*"
    rf"([.,]\d+)?|\d+([.,]\d+)?)\s?(?P<unit>%|‰|{MONEY}|[A-Za-z°²³µ/]{{1,5}})?\)?"
)


def disguise(kinds: Sequence[str]) -> str | None:
    """Return what hides the numbers that a column's texts are; None if they are something else.

    Parameters
    ----------
    kinds : sequence of str
        The different texts.
    """
    if len(kinds) <= FEW:
        return None
    dressed = [DRESSED.fullmatch(kind.strip()) for kind in kinds]
    if all(dressed):
        units = {found["unit"] for found in dressed if found is not None}
        signs = "".join(dict.fromkeys(re.sub(r"[\w.+-]", "", "".join(kinds))))
        letters = {found[k] for found in dressed if found is not None for k in ("money", "unit")} - {None}
        words = [repr(sign) for sign in signs if sign != " "]
        words += [repr(word) for word in sorted(letters) if word.isalpha()]
        grouped = any(found is not None and found["group"] for found in dressed)
        if len(units) <= 2 and (words or grouped):  # all of one unit, or without
            return f"numbers written with {' and '.join(words[:3]) or 'spaces'}"
        return None
    odd = [kind for kind in kinds if not PLAIN.fullmatch(kind.strip())]
    if len(odd) <= min(FEW, (1.0 - MOSTLY) * len(kinds)):
        return f"{len(kinds) - len(odd)} different numbers, but also {listed(odd)}"
    return None


def way_out(words: str) -> str:
    """Return what to do about numbers in disguise."""
    if "but also" in words:
        return "leave the cell empty where a number is missing"
    return "write them as plain numbers, such as 1234.5"


def check_texts(table: Table) -> None:
    """Refuse columns that no encoding helps, all of them at once: a second try should not find the next."""
    names = [name for name in table.categorical if is_name(len(table.categories[name]), table.n_rows)]
    names = [name for name in names if not are_dates(table.categories[name])]
    if not names:
        return
    found, hidden = [], False
    for name in names[:MOST_TOLD]:
        kinds = table.categories[name]
        numbers = disguise(kinds)
        if numbers is not None:
            hidden = True
            found.append(f"column {name!r} holds {numbers} ({listed(kinds[-3:])}, ...): {way_out(numbers)}")
            continue
        shown = f"column {name!r} has {len(kinds)} different texts ({listed(kinds[:3])}, ...)"
        found.append(f"{shown}: it looks like an identifier, not a category")
    if len(names) > MOST_TOLD:
        found.append(f"{len(names) - MOST_TOLD} more columns are like these")
    advice = "Or drop " if hidden else "Drop "
    advice += "what says nothing about new rows with " if len(names) > 1 else "the column with "
    advice += " ".join(f"--exclude {shlex.quote(name)}" for name in names)
    raise UserError("; ".join(found) + ". " + advice)
