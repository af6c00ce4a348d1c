"""The kinds of examples, each with its strategy."""

from hypothesis import strategies as st

from .commands import commands
from .exports import exports
from .fits import fits
from .model_files import model_files
from .table_files import table_files

KINDS = {
    "fits": fits,
    "files": lambda: st.one_of(*[table_files(), model_files()] * 4, exports()),
    "commands": commands,
    "processes": lambda: commands(apart=True),
}
