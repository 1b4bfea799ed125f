# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Files and folders that appear whole or not at all."""

import contextlib
import glob
import hashlib
import os
import pathlib
import shutil
import tempfile
from collections.abc import Callable, Iterator

import onnx

from .errors import ExportError
from .graphs import is_large

_DATA = "{}.data-{}"


@contextlib.contextmanager
def scratch(path: pathlib.Path) -> Iterator[pathlib.Path]:
    """A hidden folder beside `path`, on the same file system."""
    try:
        folder = tempfile.mkdtemp(prefix=f".{path.name}.", dir=path.absolute().parent)
    except OSError as error:
        raise ExportError(f"cannot write {path}: {error.strerror}") from None
    try:
        yield pathlib.Path(folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def write_model(model: onnx.ModelProto, path: pathlib.Path, external_data: bool | None) -> None:
    """Writes a model file in place of the one that is there.

    With external data the values stand in a file of their own, named after `path` and their content: the old
    model keeps its own until the new one is whole.
    """
    if external_data is None:
        external_data = is_large(model)
    with scratch(path) as folder:
        whole = folder / path.name
        keep = None
        if external_data:
            keep = _external_name(model, path)
            onnx.save(model, str(whole), save_as_external_data=True, location=keep, size_threshold=1024)
            if (folder / keep).exists():
                _replace(folder / keep, path.parent / keep)
        else:
            onnx.save(model, str(whole))
        _replace(whole, path)
    for stale in path.parent.glob(_DATA.format(glob.escape(path.name), "*")):
        if stale.name != keep:
            stale.unlink()


def write_whole(path: pathlib.Path, save: Callable[[str], None]) -> None:
    """Lets `save` write a file, which then takes the place of the one that is there."""
    with scratch(path) as folder:
        whole = folder / path.name
        save(str(whole))
        _replace(whole, path)


@contextlib.contextmanager
def whole_folder(path: pathlib.Path) -> Iterator[pathlib.Path]:
    """A folder to fill, which takes the place of `path` in the end; what was there goes."""
    if path.exists() and not path.is_dir():
        raise ExportError(f"{path} is a file: a folder is to be written there")
    path = path.absolute()  # "." cannot be moved
    with scratch(path) as folder:
        new, old = folder / "new", folder / "old"
        new.mkdir()
        yield new
        for written in new.iterdir():
            written.chmod(0o644)
        if path.exists():
            os.replace(path, old)
        os.replace(new, path)


def _external_name(model: onnx.ModelProto, path: pathlib.Path) -> str:
    digest = hashlib.sha256()
    for initializer in model.graph.initializer:
        digest.update(initializer.name.encode() + b"\0" + initializer.raw_data)
    return _DATA.format(path.name, digest.hexdigest()[:12])


def _replace(source: pathlib.Path, target: pathlib.Path) -> None:
    """Moves a file over another once its bytes are on the disk."""
    with source.open("rb") as stream:
        os.fsync(stream.fileno())
    source.chmod(0o644)
    os.replace(source, target)
