"""Files that name a record where it used to stand are still read."""

import pytest

from mercer.io.allowed import own_class
from mercer.io.errors import ModelFileError
from mercer.io.moved_classes import MOVED


@pytest.mark.parametrize("former", MOVED)
def test_former_addresses_are_found(former):
    cls = own_class(former, "record")
    assert f"{cls.__module__}:{cls.__qualname__}" == MOVED[former]
    with pytest.raises(ModelFileError, match="not a record"):
        own_class(former + "x", "record")
