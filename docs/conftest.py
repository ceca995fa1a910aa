"""The examples of a page run where a reader would be: in a folder with the files the page shows."""

from pathlib import Path

import pytest

from tests.docs.pages import write_files


@pytest.fixture(autouse=True)
def _folder_of_the_reader(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if request.path.suffix == ".md":
        write_files(request.path, tmp_path)
        monkeypatch.chdir(tmp_path)
        monkeypatch.syspath_prepend(tmp_path)
