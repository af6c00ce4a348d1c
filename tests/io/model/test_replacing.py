"""Saving replaces files at once or not at all, and nothing that is not a file."""

import os
import signal
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from file_samples import fitted

import mercer
from mercer.io.model import replacing
from mercer.io.model.replacing import ENDING, write_at_once

pytestmark = pytest.mark.core
posix = pytest.mark.skipif(sys.platform == "win32", reason="modes, links and pipes of POSIX")


def leftovers(folder):
    return sorted(p.name for p in folder.iterdir() if p.name.endswith(ENDING))


def test_the_content_is_there_and_nothing_else(tmp_path):
    place = tmp_path / "model"
    assert write_at_once(place, b"one") == place
    assert write_at_once(str(place), b"two") == place
    assert place.read_bytes() == b"two"
    assert [p.name for p in tmp_path.iterdir()] == ["model"]


@posix
def test_a_new_file_has_the_usual_mode_and_an_old_one_keeps_its_own(tmp_path):
    before = os.umask(0o027)
    try:
        new = write_at_once(tmp_path / "new", b"x")
        old = tmp_path / "old"
        old.write_bytes(b"secret")
        old.chmod(0o600)
        write_at_once(old, b"x")
    finally:
        os.umask(before)
    assert stat.S_IMODE(new.stat().st_mode) == 0o640
    assert stat.S_IMODE(old.stat().st_mode) == 0o600


@posix
def test_a_group_that_cannot_be_kept_gives_its_rights_to_nobody(tmp_path, monkeypatch):
    old = tmp_path / "old"
    old.write_bytes(b"x")
    old.chmod(0o664)

    def refused(*arguments, **options):
        raise PermissionError

    monkeypatch.setattr(os, "chown", refused)
    write_at_once(old, b"y")
    assert stat.S_IMODE(old.stat().st_mode) == 0o644


@posix
def test_owner_and_group_are_asked_for(tmp_path, monkeypatch):
    old = tmp_path / "old"
    old.write_bytes(b"x")
    asked = []
    monkeypatch.setattr(os, "chown", lambda name, user, group: asked.append((user, group)))
    write_at_once(old, b"y")
    assert asked == [(os.getuid(), -1), (-1, old.stat().st_gid)]


@posix
@pytest.mark.parametrize("exists", [True, False])
def test_a_symbolic_link_stays_one(tmp_path, exists):
    (tmp_path / "far").mkdir()
    target = tmp_path / "far" / "model"
    if exists:
        target.write_bytes(b"old")
    link = tmp_path / "link"
    link.symlink_to(Path("far") / "model")
    assert write_at_once(link, b"new") == link
    assert link.is_symlink()
    assert target.read_bytes() == b"new"
    assert leftovers(tmp_path) == leftovers(tmp_path / "far") == []


@posix
def test_a_pipe_is_written_to(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    got = []
    reader = threading.Thread(target=lambda: got.append(pipe.read_bytes()))
    reader.start()
    write_at_once(pipe, b"x" * 100_000)
    reader.join(timeout=30)
    assert got == [b"x" * 100_000]
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    write_at_once(os.devnull, b"x")
    assert stat.S_ISCHR(os.stat(os.devnull).st_mode)


def test_what_cannot_be_written_is_told_in_words(tmp_path):
    model, _ = fitted(mercer.SVC)
    with pytest.raises(ValueError, match="path is empty: name the file"):
        mercer.save(model, "")
    with pytest.raises(ValueError, match="is a folder: name a file"):
        mercer.save(model, tmp_path)
    with pytest.raises(FileNotFoundError, match=r"the folder .*nowhere.* does not exist"):
        mercer.save(model, tmp_path / "nowhere" / "model")
    assert list(tmp_path.iterdir()) == []


def test_a_write_that_fails_leaves_the_old_file(tmp_path, monkeypatch):
    place = tmp_path / "model"
    place.write_bytes(b"old")

    def refused(*arguments):
        raise OSError("the disk is full")

    monkeypatch.setattr(replacing, "_mode", refused)
    with pytest.raises(OSError, match="disk is full"):
        write_at_once(place, b"new")
    assert place.read_bytes() == b"old"
    assert [p.name for p in tmp_path.iterdir()] == ["model"]


KILLED = """
import os, signal, sys
from mercer.io.model import replacing

def stop(*arguments):
    print("written", flush=True)
    signal.pause()

replacing._mode = stop
replacing.write_at_once(sys.argv[1], b"half")
"""


@posix
def test_what_a_killed_process_left_is_removed_but_not_what_is_being_written(tmp_path):
    place = tmp_path / "model"
    strangers = [
        tmp_path / name for name in (f".model.abc{ENDING}", ".model.abcd1234", f"model.abcd1234{ENDING}")
    ]
    for stranger in strangers:
        stranger.write_bytes(b"not ours")
    with subprocess.Popen(
        [sys.executable, "-c", KILLED, str(place)], stdout=subprocess.PIPE, text=True
    ) as writer:
        assert writer.stdout.readline() == "written\n"
        (running,) = set(leftovers(tmp_path)) - {s.name for s in strangers}
        write_at_once(place, b"first")
        assert (tmp_path / running).exists(), "a save that is still running lost its file"
        writer.send_signal(signal.SIGKILL)
        writer.wait(timeout=30)
    write_at_once(tmp_path / "other", b"elsewhere")
    assert (tmp_path / running).exists(), "that is what another place's saves leave"
    write_at_once(place, b"second")
    assert not (tmp_path / running).exists()
    assert place.read_bytes() == b"second"
    assert all(stranger.read_bytes() == b"not ours" for stranger in strangers)


def test_threads_that_save_to_one_place_do_not_disturb_each_other(tmp_path):
    place = tmp_path / "model"
    contents = [bytes([k]) * 10_000 for k in range(8)]
    failures = []

    def save(content):
        try:
            for _ in range(20):
                write_at_once(place, content)
        except OSError as error:
            failures.append(error)

    threads = [threading.Thread(target=save, args=(content,)) for content in contents]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert place.read_bytes() in contents
    assert leftovers(tmp_path) == []
