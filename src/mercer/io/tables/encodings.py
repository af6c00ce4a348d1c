"""Text in other encodings than UTF-8, read as if it were UTF-8."""

from __future__ import annotations

import codecs
from collections.abc import Iterator

from mercer.io.errors import DataFileError
from mercer.io.tables.file_bytes import ChangedSource, Content, Source

UTF8 = ("utf-8", "utf-8-sig")  # the mark before the second is skipped wherever UTF-8 is read
MARKS = (  # the longer first: one begins with another
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
LOOKED_AT = 1 << 12  # bytes searched for zeros, which text does not have
NOT_UTF8 = (
    "save it as UTF-8, or name its encoding: encoding='cp1252' (in the command: --encoding cp1252) is usual"
)
NOT_UTF8 += " for files of Western Windows programs"


def check_encoding(encoding: str) -> str:
    """Return the usual name of an encoding; refuse what is none."""
    try:
        found = codecs.lookup(encoding)
    except (LookupError, ValueError, TypeError):
        found = None
    if found is None or not found._is_text_encoding:  # bytes.decode asks for the same attribute
        raise DataFileError(
            f"encoding={encoding!r} is not a known encoding; use for example 'utf-8', 'cp1252' (Windows, "
            "Western), 'latin-1', 'cp1250' (Central European), 'cp1251' (Cyrillic), 'gb18030', 'shift_jis' "
            "or 'utf-16'"
        )
    return found.name


def as_utf8(source: Source, encoding: str) -> Source:
    """Return a text file as one in UTF-8.

    Parameters
    ----------
    source : Source
        The file.
    encoding : str
        What the user said. A mark of UTF-16 or UTF-32 at the beginning says more than "utf-8", the default.
    """
    name = _found(source.head, encoding)
    text = source if name == "utf-8" else RecodedSource(source, name)
    _refuse_zeros(text)
    return text


def recoded(head: bytes, encoding: str, file: str) -> bytes:
    """Return the first bytes of a file in UTF-8, for a look at them."""
    name = _found(head, encoding)
    if name == "utf-8":
        return head
    try:
        text = codecs.getincrementaldecoder(name)("replace").decode(head)
    except UnicodeError as error:  # a mark that must be there is not: nothing replaces it
        raise _refusal(file, name, error) from error
    return text.encode("utf-8", "replace")


def _refusal(file: str, encoding: str, error: UnicodeError) -> DataFileError:
    return DataFileError(f"{file} is not {encoding} ({error}): try another encoding")


def _found(head: bytes, encoding: str) -> str:
    """Return the name of a file's encoding, from its mark and what the user said."""
    name = check_encoding(encoding)
    if name not in UTF8:
        return name
    return next((kind for mark, kind in MARKS if head.startswith(mark)), "utf-8")


def _refuse_zeros(source: Source) -> None:
    """Refuse what is no text; UTF-16 without a mark is told by the zeros between its letters."""
    head = source.head[:LOOKED_AT]
    if 0 not in head:
        return
    for first, kind in ((1, "utf-16-le"), (0, "utf-16-be")):
        zeros, others = head[first::2].count(0), head[1 - first :: 2].count(0)
        if others == 0 and 4 * zeros > len(head):
            raise DataFileError(
                f"{source.name} looks like UTF-16: name its encoding, encoding={kind!r} (in the command: "
                f"--encoding {kind}), or save it as UTF-8"
            )
    raise DataFileError(f"{source.name} holds zero bytes: it is not a text file")


class RecodedSource(ChangedSource):
    """A file in another encoding, read as if it were in UTF-8.

    Parameters
    ----------
    source : Source
        The file, which stays open as long as its own ``with`` lasts.
    encoding : str
        As Python names it.
    """

    def __init__(self, source: Source, encoding: str) -> None:
        super().__init__(source, encoding)
        self.head = recoded(source.head, encoding, source.name)

    def everything(self) -> Content:
        """Return all bytes."""
        whole = bytearray()
        for block in self._recoded(iter([self._source.everything()])):
            whole += block
        self.limits.check(len(whole), len(whole), self.name)
        return whole

    def blocks(self, size: int) -> Iterator[bytes]:
        """Yield the content in blocks of about ``size`` bytes."""
        yield from self._recoded(self._source.blocks(size))

    def _recoded(self, blocks: Iterator[Content]) -> Iterator[bytes]:
        decoder = codecs.getincrementaldecoder(self.encoding)()
        lines = 0
        try:
            for block in blocks:
                text = decoder.decode(block)
                yield text.encode("utf-8")
                lines += text.count("\n")
            yield decoder.decode(b"", final=True).encode("utf-8")
        except UnicodeDecodeError as error:
            before = error.object[: error.start]
            # The mark that told the order of the bytes may be in an earlier block: the error knows the order.
            known = error.encoding if self.encoding in ("utf-16", "utf-32") else self.encoding
            line = lines + before.decode(known, "replace").count("\n") + 1
            wrong = error.object[error.start : error.end][:8]
            raise DataFileError(
                f"{self.name}, line {line}: {wrong!r} is not {self.encoding} ({error.reason}): name another "
                "encoding"
            ) from error
        except UnicodeError as error:  # of codecs that are seldom used, which do not say where
            raise _refusal(self.name, self.encoding, error) from error
