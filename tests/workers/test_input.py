"""Input from files, over the protocol: phases, loaders seen from outside, the page cache, damaged files, and that the
same seed gives the same batches on every framework."""

import json
import pathlib
import shutil
import statistics
import subprocess
import sys

import graphs
import numpy
import pytest
from conftest import ROOT, interpreter, on_cpu_ns
from PIL import Image
from threads import USED_SHARE

sys.path.insert(0, str(ROOT / "workers" / "common"))
import assay_data_files

FRAMEWORKS = ("pytorch", "tensorflow", "mxnet")
SMALL = {"network": "small", "graph": graphs.small_network()}  # images of 16 x 16
BATCH = 4
COUNT = 16
SIDE = 512  # so that loading takes longer than computing
MEAN, DEVIATION = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)  # published for ImageNet
UNOVERLAPPED = {"loaders": 0, "prefetch": 0, "intra_op": 1}
PREPARE_SECONDS = 120


@pytest.fixture(scope="module")
def data_folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("data")
    assay_data_files.images(str(folder), COUNT, SIDE)
    return folder


def workload(mode="infer", **more):
    fields = {"network": "small", "graph": None, "mode": mode, "batch": BATCH, "precision": "fp32", "options": {}}
    return {**fields, "data": "files", "data_count": COUNT, "data_side": SIDE, **more}


def prepare(worker, folder, settings=None, mode="infer", **more):
    asked = {"workload": workload(mode, **more), "data_folder": str(folder), "settings": settings or UNOVERLAPPED}
    return worker.prepare(graph=SMALL["graph"], seconds=PREPARE_SECONDS, **asked)


def files_of(folder):
    return sorted(folder.glob("images-%d-of-%dx%d-*/*/*.jpg" % (COUNT, SIDE, SIDE)))


def chunks_of(folder, chunks):
    return sorted(folder.glob("images-%d-of-%dx%d-in-%d-chunks-*/*/*.tfrecord" % (COUNT, SIDE, SIDE, chunks)))


def children(pid):
    """Of all its threads, and theirs in turn."""
    found = []
    for task in pathlib.Path("/proc/%d/task" % pid).iterdir():
        for child in (task / "children").read_text().split():
            found += [int(child), *children(int(child))]
    return found


def disk_bytes(pid):
    """Read from a disk by a process and what is below it."""
    texts = [pathlib.Path("/proc/%d/io" % one).read_text() for one in (pid, *children(pid))]
    return sum(int(line.split()[1]) for text in texts for line in text.splitlines() if line.startswith("read_bytes"))


def refused(answer, *parts):
    assert (answer["type"], answer["kind"]) == ("error", "refused"), answer
    for part in parts:
        assert part in answer["message"], answer["message"]


def either(*cases, brief):
    """All but `brief` are left to the full size: each starts a framework."""
    return [pytest.param(*case, marks=[] if case in brief else [pytest.mark.full]) for case in cases]


ALONE = either(("infer", "warm"), ("infer", "cold"), ("train", "warm"), ("train", "cold"), brief=[("train", "cold")])
AHEAD = either((1, "warm"), (1, "cold"), (2, "warm"), (3, "warm"), brief=[(2, "warm")])


def judge_pages(worker, files, page_cache, ahead):
    """Takes two passes. What was loaded ahead of the first step counts before, and so much less after the last."""
    worker.measure(max_samples=2, seconds=60)  # loads libraries that are loaded with their first use
    before = disk_bytes(worker.process.pid)
    measured = worker.measure(detail="phases", max_samples=2 * COUNT // BATCH, seconds=60)
    read, held = disk_bytes(worker.process.pid) - before, sum(path.stat().st_size for path in files)
    if page_cache == "cold":
        assert read >= (2 - (ahead + 1) * BATCH / COUNT) * held
    else:
        assert read < 0.1 * held
    return measured


@pytest.mark.parametrize("mode, page_cache", ALONE)
@pytest.mark.parametrize("name", FRAMEWORKS)
def test_the_sum_of_phases_explains_a_step_that_overlaps_nothing(start, data_folder, name, mode, page_cache):
    worker, settings = start(name), {**UNOVERLAPPED, "page_cache": page_cache}
    prepared = prepare(worker, data_folder, settings, mode=mode)
    assert prepared["effective"].items() >= settings.items(), prepared
    measured = judge_pages(worker, files_of(data_folder), page_cache, ahead=0)
    assert next(iter(measured["phases"])) == "load"
    # A step that lost its core between two phases says nothing of them: of all steps the median one counts.
    steps = zip(measured["ns"], *measured["phases"].values(), strict=True)
    assert 0.97 <= statistics.median(sum(phases) / ns for ns, *phases in steps) <= 1
    # 4 x 262,144 pixels are decoded, and the network computes on 4 x 256 of them.
    assert sum(measured["phases"]["load"]) > 0.3 * sum(measured["ns"])
    refused(worker.measure(detail="layers"), "layers")


def loading_threads(worker):
    """Threads of TensorFlow's that were used besides the main one and those that run operators, which have names."""
    pid, before = worker.process.pid, on_cpu_ns(worker.process.pid)
    worker.measure(max_samples=20, seconds=60)
    names = {thread: pathlib.Path("/proc/%d/task/%s/comm" % (pid, thread)).read_text() for thread in on_cpu_ns(pid)}
    used = {thread: ns - before.get(thread, 0) for thread, ns in on_cpu_ns(pid).items() if thread != str(pid)}
    took = [ns for thread, ns in used.items() if not names[thread].startswith("tf_")]
    return sum(ns >= USED_SHARE * max(took) for ns in took)


@pytest.mark.parametrize("loaders, page_cache", AHEAD)
@pytest.mark.parametrize("name", FRAMEWORKS)
def test_loaders_are_read_back_and_counted_from_outside(start, data_folder, name, loaders, page_cache):
    """Processes, or with TensorFlow threads."""
    worker, settings = start(name), {"loaders": loaders, "prefetch": loaders, "page_cache": page_cache, "intra_op": 1}
    assert prepare(worker, data_folder, settings)["effective"].items() >= settings.items()
    judge_pages(worker, files_of(data_folder), page_cache, ahead=loaders)
    seen = loading_threads(worker) if name == "tensorflow" else len(children(worker.process.pid))
    assert seen == loaders
    assert worker.close() == 0


@pytest.mark.parametrize("loaders", [1, pytest.param(0, marks=pytest.mark.full)])
@pytest.mark.parametrize("name", FRAMEWORKS)
def test_a_damaged_image_is_named(start, data_folder, tmp_path, name, loaders):
    shutil.copytree(data_folder, tmp_path / "data")
    damaged = files_of(tmp_path / "data")[5]
    damaged.write_bytes(damaged.read_bytes()[:200])
    worker = start(name)
    answer = prepare(worker, tmp_path / "data", {"loaders": loaders, "prefetch": loaders})
    if answer["type"] == "prepared":
        answer = worker.measure(max_samples=COUNT // BATCH, seconds=60)
    assert (answer["type"], answer["kind"]) == ("error", "failed") and str(damaged) in answer["message"], answer


@pytest.mark.parametrize("name", FRAMEWORKS)
def test_chunks_come_from_the_disk_in_every_pass(start, data_folder, name):
    worker, settings = start(name), {**UNOVERLAPPED, "page_cache": "cold"}
    prepared = prepare(worker, data_folder, settings, data_chunks=4)
    assert prepared["effective"].items() >= settings.items(), prepared
    measured = judge_pages(worker, chunks_of(data_folder, 4), "cold", ahead=1)
    assert next(iter(measured["phases"])) == "load"


DAMAGED = either(*((name, loaders) for name in FRAMEWORKS for loaders in (0, 1)), brief=[("tensorflow", 1)])


@pytest.mark.parametrize("name, loaders", DAMAGED)
def test_a_damaged_chunk_is_named(start, tmp_path, name, loaders):
    """Cut off within its last image."""
    sizes = {"data_chunks": 3, "data_side": 64}
    assay_data_files.images(str(tmp_path), COUNT, 64, 3)
    [damaged] = tmp_path.glob("images-*/*/00000001.tfrecord")
    damaged.write_bytes(damaged.read_bytes()[:-100])
    worker = start(name)
    answer = prepare(worker, tmp_path, {"loaders": loaders, "prefetch": loaders}, **sizes)
    if answer["type"] == "prepared":
        answer = worker.measure(max_samples=COUNT // BATCH, seconds=60)
    assert (answer["type"], answer["kind"]) == ("error", "failed") and str(damaged) in answer["message"], answer


def batches(name, folder, output, *cases):
    """The first three batches of each case, by `case/batch/part`: a graph and fields of the workload."""
    messages = []
    for graph, more in cases:
        message = {"workload": workload(mode="train", **more), "graph": graph, "seed": 5, "data_folder": str(folder)}
        messages.append({**message, "settings": {"loaders": 2, "prefetch": 2}})
    argv = [interpreter(name), ROOT / "tests/workers/input_batches.py", name, "3", str(output)]
    done = subprocess.run(argv, input=json.dumps(messages), capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    return dict(numpy.load(output))


def expected_images(folder, order):
    """The middle of each image, shifted and scaled."""
    files, found = files_of(folder), {}
    labels = numpy.random.default_rng(0).integers(10, size=COUNT)
    for number in range(3):
        chosen = numpy.array(order[number * BATCH : (number + 1) * BATCH])
        pixels = numpy.stack([numpy.asarray(Image.open(files[i]).crop((248, 248, 264, 264))) for i in chosen])
        scaled = (pixels / 255 - numpy.array(MEAN)) / numpy.array(DEVIATION)
        found["%d/image" % number] = scaled.transpose(0, 3, 1, 2)
        found["%d/target" % number] = labels[chosen]
    return found


def expected_tokens(folder, order):
    """30 samples of 7 + 1 tokens; the third batch of 12 begins in the first pass and ends in the second."""
    [path] = folder.glob("tokens-30-of-8-below-50-*/tokens.u16")
    drawn, found = numpy.fromfile(path, "<u2").reshape(30, 8), {}
    assert drawn.max() < 50 and len(numpy.unique(drawn)) > 40
    for number in range(3):
        chosen = drawn[[order[i % 30] for i in range(12 * number, 12 * number + 12)]]
        found["%d/tokens" % number], found["%d/target" % number] = chosen[:, :-1], chosen[:, 1:]
        found["%d/types" % number] = numpy.tile([0, 0, 0, 0, 1, 1, 1], (12, 1))
    return found


def order_of_chunks(*chunks):
    """Chunks in an order from the seed, samples of each from its begin to its end."""
    return [sample for chunk in numpy.random.default_rng(5).permutation(len(chunks)) for sample in chunks[chunk]]


@pytest.mark.parametrize("name", FRAMEWORKS)
def test_the_same_seed_gives_the_same_batches_on_every_framework(data_folder, tmp_path, name):
    words = graphs.node("words", "embedding", "tokens", [7, 50], [[50, 50]], rows=50, features=50)
    types = {**graphs.tokens(7, 2), "name": "types"}
    text = graphs.graph([graphs.tokens(7, 50), types], [words], loss="cross_entropy")
    sizes = {"data_count": 30, "data_side": None, "batch": 12}
    cases = [(SMALL["graph"], {}), (text, sizes)]
    cases += [(graph, {**more, "data_chunks": chunks}) for chunks, (graph, more) in zip((3, 2), cases, strict=True)]
    found, expected = batches(name, data_folder, tmp_path / "found.npz", *cases), {}
    wanted = (
        expected_images(data_folder, numpy.random.default_rng(5).permutation(COUNT)),
        expected_tokens(data_folder, range(30)),
        expected_images(data_folder, order_of_chunks(range(5), range(5, 10), range(10, 16))),
        expected_tokens(data_folder, order_of_chunks(range(15), range(15, 30))),
    )
    for case, values in enumerate(wanted):
        expected.update(("%d/%s" % (case, part), value) for part, value in values.items())
    assert found.keys() == expected.keys()
    for part, wanted in expected.items():
        assert found[part].shape == wanted.shape
        # Decoders may round a pixel to either side: one of 255 levels, over the smallest deviation.
        most = 1.5 / 255 / min(DEVIATION) if part.endswith("image") else 0
        assert abs(found[part] - wanted).max() <= most, part


@pytest.mark.parametrize("name", FRAMEWORKS)
def test_settings_of_loading_are_refused_without_files(start, name):
    for setting, value in {"loaders": 1, "prefetch": 1, "page_cache": "warm"}.items():
        refused(start(name).prepare(**SMALL, settings={setting: value}), setting, "files")


@pytest.mark.full
@pytest.mark.parametrize("name", ["pytorch", "mxnet"])
def test_batches_ahead_need_loaders(start, data_folder, name):
    refused(prepare(start(name), data_folder, {"prefetch": 2}), "prefetch 2", "loaders")


@pytest.mark.full
def test_pytorch_loads_as_many_batches_ahead_for_each_loader(start, data_folder):
    refused(prepare(start("pytorch"), data_folder, {"loaders": 2, "prefetch": 3}), "prefetch 3", "loaders 2", "Use 4")


def test_a_primitive_reads_no_files(start, data_folder):
    asked = {"network": "gemm", "workload": workload(network="gemm", batch=1), "data_folder": str(data_folder)}
    refused(start("pytorch").prepare(**asked), "files", "gemm")
