"""The outside of a model file: safetensors, with a description in its metadata and a digest over both."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import numpy as np
import safetensors
from safetensors import SafetensorError
from safetensors.numpy import save as pack_tensors

from mercer.io.errors import ModelFileError

_deserialize: Any = safetensors.deserialize  # it has no types
PROTOCOL = 1
FORMAT = "mercer model"
LARGEST_HEADER = 1 << 28
DTYPES = {
    "F64": "<f8", "F32": "<f4", "F16": "<f2", "I64": "<i8", "I32": "<i4", "I16": "<i2", "I8": "|i1",
    "U64": "<u8", "U32": "<u4", "U16": "<u2", "U8": "|u1", "BOOL": "|b1",
}  # fmt: skip


def digest(description: str, tensors: dict[str, np.ndarray]) -> str:
    """Return a fingerprint of all content; it finds damage, not intent."""
    sha = hashlib.sha256(description.encode("utf-8"))
    for name in sorted(tensors):
        array = tensors[name]
        sha.update(f"\0{name}\0{array.dtype.str}\0{array.shape}\0".encode())
        sha.update(np.ascontiguousarray(array).data if array.size else b"")
    return sha.hexdigest()


def pack(description: dict[str, Any], tensors: dict[str, np.ndarray]) -> bytes:
    """Return the bytes of a file."""
    text = json.dumps(description, allow_nan=False, ensure_ascii=True, separators=(",", ":"))
    # One entry only: safetensors writes several in any order, and the same model should give the same file.
    packed: bytes = pack_tensors(tensors, metadata={FORMAT: f"{digest(text, tensors)}\n{text}"})
    return packed


def _no_constant(name: str) -> Any:
    raise ModelFileError(f"the file's description holds {name}, which is not JSON")


def _pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    table = dict(pairs)
    if len(table) != len(pairs):
        raise ModelFileError("the file's description has the same key twice")
    return table


def parse_json(text: str | bytes, what: str) -> Any:
    """Return strict JSON: no repeated keys, no nan, no depth that exhausts the stack."""
    try:
        return json.loads(text, parse_constant=_no_constant, object_pairs_hook=_pairs)
    except RecursionError:
        raise ModelFileError(f"{what} is nested too deeply") from None
    except (ValueError, UnicodeDecodeError) as error:
        if isinstance(error, ModelFileError):
            raise
        raise ModelFileError(f"{what} is not valid JSON: {error}") from error


def read_description(content: bytes) -> tuple[dict[str, Any], str, str]:
    """Return the description, its text and the digest, without looking at the arrays."""
    if len(content) < 8:
        raise ModelFileError(f"it has {len(content)} bytes; a model file has at least a length and a header")
    length = int.from_bytes(content[:8], "little")
    if length > min(LARGEST_HEADER, len(content) - 8):
        raise ModelFileError(
            "it is truncated, or is not a model file: the stated length of its header exceeds the file"
        )
    header = parse_json(content[8 : 8 + length], "its header")
    metadata = header.get("__metadata__") if isinstance(header, dict) else None
    found = metadata.get(FORMAT) if isinstance(metadata, dict) and len(metadata) == 1 else None
    if not isinstance(found, str):
        raise ModelFileError("it is not a mercer model file: its header does not say so")
    claimed, _, text = found.partition("\n")
    description = parse_json(text, "its description")
    if not isinstance(description, dict):
        raise ModelFileError("its description is not a table")
    protocol = description.get("protocol")
    if not isinstance(protocol, int) or isinstance(protocol, bool) or protocol < 1:
        raise ModelFileError(f"it has no protocol number but {protocol!r:.40}")
    if protocol > PROTOCOL:
        raise ModelFileError(
            f"it has protocol {protocol}; this version of mercer reads protocols up to "
            f"{PROTOCOL}: install a newer one"
        )
    return description, text, claimed


def unpack(content: bytes) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Return the description and the arrays of a file, whose structure and digest hold."""
    description, text, claimed = read_description(content)
    try:
        entries: Any = _deserialize(content)
    except SafetensorError as error:
        raise ModelFileError(f"its arrays are invalid: {error}") from error
    tensors: dict[str, np.ndarray] = {}
    for name, entry in entries:
        if entry["dtype"] not in DTYPES:
            raise ModelFileError(f"array {name!r:.60} is of type {entry['dtype']!r:.20}, which no model has")
        flat = np.frombuffer(entry["data"], dtype=DTYPES[entry["dtype"]])
        shape = tuple(entry["shape"])
        if int(np.prod(shape, dtype=object)) != flat.size:
            raise ModelFileError(f"array {name!r:.60} of shape {shape} has {flat.size} entries")
        tensors[name] = _owned(flat).reshape(shape)
    if digest(text, tensors) != claimed:
        raise ModelFileError("it is damaged: its content does not have the digest that was written with it")
    return description, tensors


def _owned(flat: np.ndarray) -> np.ndarray:
    """Return the same numbers in aligned memory that can be written to."""
    return flat if flat.flags.writeable and flat.flags.aligned and flat.ctypes.data % 16 == 0 else flat.copy()
