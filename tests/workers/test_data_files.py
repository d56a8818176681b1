"""The data set itself: made once, the same everywhere, anew where it was interrupted; and its pages in memory."""

import hashlib
import os
import pathlib
import sys

import graphs
import pytest
from conftest import ROOT
from PIL import Image

sys.path.insert(0, str(ROOT / "workers" / "common"))
import assay_data
import assay_data_files
import assay_page_cache
import assay_worker


def digest(folder):
    """Of all that lies below, by name and content."""
    found = hashlib.sha256()
    for path in sorted(pathlib.Path(folder).rglob("*")):
        found.update(str(path.relative_to(folder)).encode() + (path.read_bytes() if path.is_file() else b""))
    return found.hexdigest()


def prepare(folder, **more):
    workload = {"network": "small", "mode": "infer", "batch": 2, "data": "files", "data_count": 12, "data_side": 20}
    message = {"workload": workload, "graph": graphs.small_network(), "data_folder": str(folder), "seed": 3}
    return assay_worker.Prepare({**message, **more})


def test_images_have_the_size_that_was_asked_for(tmp_path):
    folder = assay_data_files.images(str(tmp_path), 3, 40)
    paths = [assay_data_files.image_path(folder, index) for index in range(3)]
    assert [Image.open(path).size for path in paths] == [(40, 40)] * 3
    assert len({pathlib.Path(path).read_bytes() for path in paths}) == 3
    assert len(list(tmp_path.iterdir())) == 2  # the folder and its lock


def test_an_image_takes_about_as_many_bytes_as_a_photograph(tmp_path):
    """ImageNet's take 110 KB for 500 x 375 pixels on average: .6 bytes for each."""
    folder = assay_data_files.images(str(tmp_path), 1, 256)
    assert 0.3 < pathlib.Path(assay_data_files.image_path(folder, 0)).stat().st_size / 256**2 < 0.7


def test_it_is_the_same_wherever_it_is_made(tmp_path):
    made = [assay_data_files.images(str(tmp_path / place), 3, 24) for place in "ab"]
    assert digest(made[0]) == digest(made[1])
    made = [assay_data_files.tokens(str(tmp_path / place), 3, 5, 100) for place in "ab"]
    assert digest(made[0]) == digest(made[1])


def test_what_is_there_is_not_made_again(tmp_path):
    folder = pathlib.Path(assay_data_files.tokens(str(tmp_path), 3, 5, 100))
    before = (folder / assay_data_files.TOKENS).stat().st_mtime_ns
    assay_data_files.tokens(str(tmp_path), 3, 5, 100)
    assert (folder / assay_data_files.TOKENS).stat().st_mtime_ns == before


def test_one_that_was_interrupted_is_made_anew(tmp_path):
    whole = assay_data_files.images(str(tmp_path / "whole"), 3, 24)
    unfinished = tmp_path / "killed" / (os.path.basename(whole) + ".unfinished")
    (unfinished / "00000").mkdir(parents=True)
    (unfinished / "00000" / "00000000.jpg").write_bytes(b"half")
    assert digest(assay_data_files.images(str(tmp_path / "killed"), 3, 24)) == digest(whole)
    assert not unfinished.exists()


def test_an_error_leaves_nothing_behind_and_names_the_folder(tmp_path, monkeypatch):
    with pytest.raises(assay_worker.Refused, match=r"/dev/null/data: Not a directory.*ASSAY_DATA_FOLDER"):
        assay_data_files.tokens("/dev/null/data", 1, 5, 100)

    def full(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Image.Image, "save", full)
    with pytest.raises(assay_worker.Refused, match="No space left on device"):
        assay_data_files.images(str(tmp_path), 3, 24)
    assert [path.suffix for path in tmp_path.iterdir()] == [".lock"]


def test_processes_that_work_side_by_side_share_no_sample(tmp_path):
    parts = [assay_data.of(prepare(tmp_path, instance=i, instances=3)).order for i in range(3)]
    assert sorted(sum(parts, [])) == list(range(12)) and {len(part) for part in parts} == {4}


def test_passes_follow_without_a_gap(tmp_path):
    data = assay_data.of(prepare(tmp_path, workload={**prepare(tmp_path).workload, "batch": 5}))
    taken = [sample for number in range(12) for sample in data.batch_at(number)]
    assert taken == data.order * 5


def test_pages_are_let_go_and_read(tmp_path):
    files = [tmp_path / "a", tmp_path / "b"]
    for path in files:
        path.write_bytes(os.urandom(50_000))  # 13 pages
    assay_page_cache.drop_files(files)
    if assay_page_cache.resident_pages(files) == (26, 26):
        pytest.skip("this file system lies in memory")
    assert assay_page_cache.resident_pages(files) == (0, 26)
    assay_page_cache.read_files(files)
    assert assay_page_cache.resident_pages(files) == (26, 26)
    assay_page_cache.drop((files[0], 4096, 8192))
    assert assay_page_cache.resident_pages(files) == (24, 26)


def cold_pass(data, batches):
    """(pages in memory, pages in all) once all were read, and each batch of a pass was used."""
    try:
        feed = assay_data.Feed(data, ahead=0)
    except assay_worker.Refused:
        pytest.skip("this file system lies in memory")
    assay_page_cache.read_files(data.files())
    for _ in range(batches):
        feed.used()
    return assay_page_cache.resident_pages(data.files())


@pytest.mark.parametrize("chunks, pages", [(None, 16), (3, 18)])
def test_a_cold_pass_over_tokens_leaves_no_page(tmp_path, chunks, pages):
    """30 samples of 1,025 tokens are 15.01 pages, and a chunk of 10 is 5.005: batches of 3 share pages, some lie in two
    chunks, and the last page is not full."""
    graph = graphs.graph([graphs.tokens(1024, 9)], [graphs.node("w", "embedding", "tokens", [1024, 2], [[9, 2]])])
    sizes = {"batch": 3, "data_count": 30, "data_side": None, "data_chunks": chunks}
    workload = {**prepare(tmp_path).workload, **sizes}
    data = assay_data.of(prepare(tmp_path, workload=workload, graph=graph, settings={"page_cache": "cold"}))
    assert cold_pass(data, 10) == (0, pages)


CASES = {
    "nothing of that name": ({"data": "tape"}, {}, "data 'tape' .* files"),
    "a batch larger than the data": ({"data_count": 1}, {}, "data_count 1: .* 2 or more"),
    "a chunk smaller than a batch": ({"data_chunks": 7}, {}, "data_chunks 7: .* 6 chunks or fewer, .* 14 or more"),
    "images smaller than the network's": ({"data_side": 15}, {}, "data_side 15: .* 16 or more"),
    "cold, but read again at once": ({"data_count": 3}, {"page_cache": "cold"}, "cold.* data_count of 4"),
    "more than the disk holds": ({"data_count": 10**8, "data_side": 8192}, {}, "MB left.* ASSAY_DATA_FOLDER"),
    "a loader without files": ({"data": "memory"}, {"loaders": 1}, "loaders: .* files"),
}


@pytest.mark.parametrize("case", CASES)
def test_what_cannot_be_loaded_is_refused(tmp_path, case):
    fields, settings, message = CASES[case]
    asked = prepare(tmp_path, workload={**prepare(tmp_path).workload, **fields}, settings=settings)
    with pytest.raises(assay_worker.Refused, match=message):
        assay_data.refuse_early(asked)
        assay_data.Feed(assay_data.of(asked), ahead=0)


def test_inputs_that_are_neither_images_nor_tokens_are_refused(tmp_path):
    graph = graphs.graph([graphs.image([1, 8, 8])], [graphs.node("flat", "flatten", "image", [64])])
    with pytest.raises(assay_worker.Refused, match=r"image of \[1, 8, 8\]"):
        assay_data.of(prepare(tmp_path, graph=graph))
