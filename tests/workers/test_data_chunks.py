"""A data set in chunks: what lies in them, which process reads which, when they are opened, and their pages."""

import pathlib
import struct
import sys

import graphs
import numpy
import pytest
from conftest import ROOT

sys.path.insert(0, str(ROOT / "workers" / "common"))
import assay_data
import assay_data_chunks
import assay_data_files
import assay_page_cache
import assay_tfrecord
import assay_worker

COUNT = 23  # in 5 chunks: 4, 5, 4, 5 and 5 samples, as 0, 23 / 5, 46 / 5, … rounded down follow each other
SAMPLES = [range(0, 4), range(4, 9), range(9, 13), range(13, 18), range(18, 23)]
IMAGES = graphs.small_network()
TOKENS = graphs.graph([graphs.tokens(6, 9)], [graphs.node("w", "embedding", "tokens", [6, 2], [[9, 2]])])
KINDS = {"images": IMAGES, "tokens": TOKENS}


def data_of(folder, kind="images", chunks=5, part=0, parts=1, process="instance", seed=3, settings=None, **more):
    workload = {"network": "small", "mode": "infer", "batch": 3, "data": "files", "data_count": COUNT, **more}
    message = {"workload": {**workload, "data_chunks": chunks}, "graph": KINDS[kind], "seed": seed}
    message |= {"data_folder": str(folder), "settings": settings, process: part, process + "s": parts}
    return assay_data.of(assay_worker.Prepare(message))


def records(path):
    """As TensorFlow's page on TFRecord says: size in 8 bytes, checksum in 4, content, checksum in 4."""
    content, found, begin = path.read_bytes(), [], 0
    while begin < len(content):
        [size] = struct.unpack_from("<Q", content, begin)
        found.append(content[begin + 12 : begin + 12 + size])
        begin += size + 16
    assert begin == len(content)
    return found


def test_checksums_are_those_of_castagnoli():
    """Examples of RFC 3720, appendix B.4, and the usual check value."""
    assert assay_tfrecord.crc32c(bytes(32)) == 0x8A9136AA
    assert assay_tfrecord.crc32c(b"\xff" * 32) == 0x62A8AB43
    assert assay_tfrecord.crc32c(bytes(range(32))) == 0x46DD794E
    assert assay_tfrecord.crc32c(b"123456789") == 0xE3069283


def test_images_in_chunks_are_the_bytes_of_those_in_files(tmp_path):
    whole = assay_data_files.images(str(tmp_path), COUNT, 24)
    cut = assay_data_files.images(str(tmp_path), COUNT, 24, 5)
    for chunk, samples in enumerate(SAMPLES):
        files = [pathlib.Path(assay_data_files.image_path(whole, index)).read_bytes() for index in samples]
        assert records(pathlib.Path(assay_data_files.image_chunk_path(cut, chunk))) == files


def test_tokens_are_simply_cut(tmp_path):
    whole = pathlib.Path(assay_data_files.tokens(str(tmp_path), COUNT, 7, 100)) / assay_data_files.TOKENS
    cut = assay_data_files.tokens(str(tmp_path), COUNT, 7, 100, 5)
    chunks = [pathlib.Path(assay_data_files.token_chunk_path(cut, chunk)).read_bytes() for chunk in range(5)]
    assert [len(chunk) for chunk in chunks] == [14 * len(samples) for samples in SAMPLES]
    assert b"".join(chunks) == whole.read_bytes()


@pytest.mark.parametrize("kind", KINDS)
def test_a_sample_is_the_same_in_chunks(tmp_path, kind):
    whole, cut = data_of(tmp_path, kind, chunks=None), data_of(tmp_path, kind)
    for index in range(COUNT):
        for one, other in zip(whole[index], cut[index], strict=True):
            assert numpy.array_equal(one, other)


@pytest.mark.parametrize("process", ["rank", "instance"])
@pytest.mark.parametrize("kind", KINDS)
def test_processes_read_chunks_of_their_own_and_every_sample_once(tmp_path, kind, process):
    parts = [data_of(tmp_path, kind, part=part, parts=2, process=process) for part in range(2)]
    assert sorted(parts[0].order) == sorted([*SAMPLES[0], *SAMPLES[2], *SAMPLES[4]])
    assert sorted(parts[1].order) == sorted([*SAMPLES[1], *SAMPLES[3]])
    numbers = [sorted(int(pathlib.Path(path).stem) for path in part.files()) for part in parts]
    assert numbers == [[0, 2, 4], [1, 3]]


def test_chunks_follow_in_an_order_of_the_seed_and_samples_in_sequence(tmp_path):
    seen = set()
    for seed in range(20):
        order = data_of(tmp_path, seed=seed).order
        assert order == data_of(tmp_path, seed=seed).order
        chunks = sorted(SAMPLES, key=lambda samples: order.index(samples[0]))
        assert order == [sample for samples in chunks for sample in samples]
        seen.add(tuple(order))
    assert len(seen) > 10  # of 120 orders; 20 draws hit 10 or fewer of them once in more than 10^9 times


@pytest.mark.parametrize("kind", KINDS)
def test_a_chunk_is_opened_once_in_a_pass(tmp_path, monkeypatch, kind):
    data, opened = data_of(tmp_path, kind), []

    def counting(path, *rest, **named):
        opened.append(open(path, *rest, **named))
        assert sum(not file.closed for file in opened) == 1
        return opened[-1]

    monkeypatch.setattr(assay_data_chunks, "open", counting, raising=False)
    for index in data.order * 2:
        data[index]
    assert [file.name for file in opened] == data.files() * 2


@pytest.mark.parametrize("page_cache", ["warm", "cold"])
def test_images_in_chunks_have_the_pages_that_were_asked_for(tmp_path, page_cache):
    """Batches of 3 images of about 6 pages each share pages, and some lie in two chunks. A pass of 24 is 8 batches."""
    data = data_of(tmp_path, settings={"page_cache": page_cache}, data_count=24, data_side=256)
    try:
        feed = assay_data.Feed(data, ahead=0)
    except assay_worker.Refused:
        pytest.skip("this file system lies in memory")
    pages = sum(-(-pathlib.Path(path).stat().st_size // 4096) for path in data.files())
    resident = 0 if page_cache == "cold" else pages
    assert pages > COUNT and assay_page_cache.resident_pages(data.files()) == (resident, pages)
    for number in range(8):
        for index in data.batch_at(number):
            data[index]
        feed.used()
    assert assay_page_cache.resident_pages(data.files()) == (resident, pages)


def test_a_damaged_index_is_named(tmp_path):
    data_of(tmp_path)
    [index] = tmp_path.glob("*/index.u64")
    index.write_bytes(index.read_bytes()[:-8])
    with pytest.raises(assay_data_files.DamagedFile, match=str(index)):
        data_of(tmp_path)


def test_regions_end_with_their_chunk():
    """6 samples of 3,000 bytes, 3 in each chunk. Begins are those of pages (4,096 bytes); 0 is up to its end."""
    chunks = assay_data_chunks.Chunks.of_equal_samples(["a", "b"], 6, 3000)
    assert list(chunks.regions([0, 1])) == [("a", 0, 6000)]
    assert list(chunks.regions([2, 3])) == [("a", 4096, 0), ("b", 0, 3000)]
    assert list(chunks.regions([5, 0])) == [("b", 4096, 0), ("a", 0, 3000)]
    assert list(chunks.regions([4, 2])) == [("b", 0, 6000), ("a", 4096, 0)]


def test_fewer_chunks_than_processes_are_refused(tmp_path):
    with pytest.raises(assay_worker.Refused, match=r"data_chunks 2: each of 3 processes .* Ask for 3 or more"):
        data_of(tmp_path, chunks=2, parts=3)
