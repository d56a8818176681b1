"""Engines that generate text: files of weights, tokens and their times, and what is refused."""

import hashlib
import json
import re
import struct
import subprocess
import sys

import pytest
from conftest import FOLDERS, ROOT, argv_of, interpreter
from value_files import read

sys.path.append(str(ROOT / "workers" / "common"))
import assay_gguf
import assay_hf_folder
import assay_llama

ENGINES = ("llamacpp", "onnxruntime_genai", "openvino_genai", "pytorch", "vllm")
ASKED = {"prompt_tokens": 6, "output_tokens": 3, "sequences": 2}
PARAMETERS = 8_737_536


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    """A file in fp16 that all engines read."""
    path = tmp_path_factory.mktemp("model") / "model.gguf"
    writer = ROOT / "workers" / "common" / "assay_llama.py"
    subprocess.run([interpreter("llamacpp"), writer, "llama_9m", path, "--precision", "fp16"], check=True, timeout=60)
    return path


def file_of(path):
    return {"path": str(path), "function": None, "hash": hashlib.sha256(path.read_bytes()).hexdigest()[:32]}


def prepare(worker, model, precision="file", asked=ASKED, **more):
    settings = more.pop("settings", {"intra_op": 1})
    more.setdefault("seconds", 300)  # vLLM imports for long
    return worker.prepare(
        network=str(model), file=file_of(model), precision=precision, generate=asked, settings=settings, **more
    )


@pytest.mark.parametrize("name", ENGINES)
def test_every_token_of_every_sequence_has_its_time(start, name, model):
    worker = start(name)
    prepared = prepare(worker, model)
    assert prepared["type"] == "prepared", prepared
    assert prepared["parameters"] == PARAMETERS and prepared["effective"]["intra_op"] == 1
    # Two bytes a weight; norms, 19 of 256 values, stay in fp32 in llama.cpp. GenAI adds some constants of its own.
    most = 2 * PARAMETERS + 2 * 19 * 256
    if name == "onnxruntime_genai":  # fp32, and sines and cosines of 4096 places x 16 pairs
        most = 4 * PARAMETERS + 2 * 4 * 4096 * 16
    assert most - 20_000 <= prepared["weights_bytes"] <= most
    # At least 2 (keys, values) x 9 layers x 4 heads x 32 features x 2 bytes for 9 tokens of 2 sequences.
    assert prepared["cache_bytes"] >= 2 * 9 * 4 * 32 * 2 * 9 * 2
    measured = worker.measure(max_samples=2, seconds=60)
    assert len(measured["ns"]) == len(measured["tokens"]) == 2
    for step, tokens in zip(measured["ns"], measured["tokens"]):
        assert len(tokens) == 6
        for sequence in (tokens[:3], tokens[3:]):
            assert 0 < sequence[0] < sequence[1] < sequence[2] <= step
    assert worker.close() == 0


@pytest.mark.parametrize("name", ENGINES)
def test_an_engine_says_the_same_of_forced_tokens_each_time(start, name, model, tmp_path):
    worker = start(name)
    prepare(worker, model)
    said = []
    for i in range(2):
        path = tmp_path / str(i)
        worker.send({"type": "evaluate", "output": str(path), "updates": 0, "learning_rate": 0, "momentum": 0})
        assert worker.read()["type"] == "evaluated"
        said.append(read(path)["logits"])
        worker.measure(max_samples=1)  # leaves nothing in the cache that the next would see
    assert said[0] == said[1] and said[0][0] == [2, 3, 4096]


@pytest.mark.parametrize("name", ENGINES)
@pytest.mark.parametrize(
    "asked, told",
    [
        ({**ASKED, "prompt_tokens": 4096}, "context of 4096"),
        ({**ASKED, "cache_precision": "banana"}, "banana"),
    ],
)
def test_what_it_cannot_do_is_refused_by_name(start, name, model, asked, told):
    answer = prepare(start(name), model, asked=asked)
    assert (answer["type"], answer["kind"]) == ("error", "refused") and told in answer["message"], answer


@pytest.mark.parametrize("name", ENGINES)
def test_a_file_that_has_changed_is_refused(start, name, model):
    changed = {**file_of(model), "hash": "0" * 32}
    answer = start(name).prepare(network=str(model), file=changed, precision="file", generate=ASKED)
    assert (answer["type"], answer["kind"]) == ("error", "refused") and "changed" in answer["message"]


def test_llamacpp_reads_back_what_it_was_given(start, model):
    settings = {"intra_op": 2, "prefill_threads": 1, "prefill_tokens": 4}
    asked = {**ASKED, "cache_precision": "q8_0"}
    effective = prepare(start("llamacpp"), model, settings=settings, asked=asked)["effective"]
    assert {key: effective[key] for key in settings} == settings and effective["cache"] == "q8_0"


def test_vllm_reads_back_what_it_was_given(start, model):
    settings = {"intra_op": 2, "prefill_tokens": 4}
    effective = prepare(start("vllm"), model, settings=settings)["effective"]
    assert {key: effective[key] for key in settings} == settings
    off = ("prefix_caching", "speculative_decoding", "asynchronous_scheduling")
    assert [effective[name] for name in off] == ["off"] * 3 and effective["cache"] == "float16"


def test_vllm_refuses_weights_that_it_would_have_to_round(start, tmp_path):
    path = tmp_path / "model.gguf"
    assay_llama.write_model(str(path), "llama_9m", "q8_0")
    answer = prepare(start("vllm"), path)
    assert (answer["type"], answer["kind"]) == ("error", "refused") and "kind Q8_0" in answer["message"]


def test_onnxruntime_genai_quantises_what_it_is_given(start, model):
    worker = start("onnxruntime_genai")
    prepared = prepare(worker, model, precision="int4", settings={"intra_op": 2})
    effective = prepared["effective"]
    assert (effective["intra_op"], effective["weights"], effective["file_kind"]) == (2, "int4", "F16")
    # Half a byte a weight and a scale for each 32 of them; the embedding, 4096 x 256, stays in fp32.
    embedding = 4096 * 256
    least = (PARAMETERS - embedding) / 2 + 4 * embedding
    assert least < prepared["weights_bytes"] < 1.25 * least
    refused = prepare(start("onnxruntime_genai"), model, asked={**ASKED, "cache_precision": "fp16"})
    assert refused["kind"] == "refused" and "keys and values are in fp32" in refused["message"]


def test_onnxruntime_genai_refuses_weights_that_are_quantised(start, tmp_path):
    path = tmp_path / "model.gguf"
    assay_llama.write_model(str(path), "llama_9m", "q8_0")
    answer = prepare(start("onnxruntime_genai"), path)
    assert (answer["type"], answer["kind"]) == ("error", "refused") and "kind Q8_0" in answer["message"]


def test_a_folder_of_transformers_has_the_weights_of_the_file(model, tmp_path):
    numpy = pytest.importorskip("numpy")
    file = assay_gguf.read(str(model))
    config = assay_hf_folder.config_of(file)
    assay_hf_folder.write_weights(str(tmp_path / "weights"), file, config)
    data = (tmp_path / "weights").read_bytes()
    size = struct.unpack("<Q", data[:8])[0]
    header = json.loads(data[8 : 8 + size])
    assert len(header) == len(file.tensors) + 1  # and what it is for

    def written(name):
        entry = header[name]
        begin, end = entry["data_offsets"]
        kind = {"F16": "<f2", "F32": "<f4"}[entry["dtype"]]
        return numpy.frombuffer(data[8 + size + begin : 8 + size + end], kind).reshape(entry["shape"])

    assert numpy.array_equal(written("lm_head.weight"), file.array("output.weight"))
    # Heads of 32 features: features 2i and 2i + 1 of a head are its features i and 16 + i there.
    query, turned = file.array("blk.3.attn_q.weight"), written("model.layers.3.self_attn.q_proj.weight")
    for head, i in ((0, 0), (0, 5), (7, 15)):
        assert numpy.array_equal(turned[32 * head + i], query[32 * head + 2 * i])
        assert numpy.array_equal(turned[32 * head + 16 + i], query[32 * head + 2 * i + 1])
    # 256 features in 8 heads; the rest as SHAPES has it.
    assert (config["head_dim"], config["num_key_value_heads"], config["vocab_size"]) == (32, 4, 4096)
    assert config["rope_theta"] == 10000 and not config["tie_word_embeddings"]


def test_the_names_of_shapes_are_those_of_the_program():
    source = (ROOT / "assay" / "core" / "workloads" / "generation.cpp").read_text()
    listed = re.search(r"all\{(.*?)\};", source)[1]
    assert re.findall(r'"(\w+)"', listed) == list(assay_llama.SHAPES)


def test_shapes_have_the_parameters_they_are_named_for():
    # TinyLlama 1.1B has 1,100,048,384 parameters (its config on the hub: 22 layers of 2048, 4 key heads, 32,000 words).
    assert assay_llama.parameters(assay_llama.SHAPES["tinyllama_1b"]) == 1_100_048_384
    assert assay_llama.parameters(assay_llama.SHAPES["llama_9m"]) == PARAMETERS


def test_weights_are_rounded_as_ggml_rounds_them():
    numpy = pytest.importorskip("numpy")
    values = numpy.arange(32, dtype="f4")
    # Q8_0: the scale is 31 / 127 in fp16, each level x / (31 / 127) rounded: 31 is 127, 1 is 4.097 -> 4.
    scale, *levels = struct.unpack("<e32b", assay_gguf.encode(values, "Q8_0"))
    assert scale == numpy.float16(31 / 127) and levels[31] == 127 and levels[1] == 4 and levels[0] == 0
    # Q4_0: the largest, 31, is level 0 of a negative scale -31/8; 0 is level 8; 16 is 16 / -3.875 + 8.5 = 4.37 -> 4.
    scale, *packed = struct.unpack("<e16B", assay_gguf.encode(values, "Q4_0"))
    assert scale == numpy.float16(-31 / 8) and packed[15] >> 4 == 0 and packed[0] & 15 == 8 and packed[0] >> 4 == 4
    # BF16: 1 + 2^-8 lies between 1 and 1 + 2^-7, and the even one of both is 1; 1 + 3 x 2^-8 goes up to 1 + 2^-6.
    halves = numpy.array([1 + 2**-8, 1 + 3 * 2**-8], "f4")
    assert struct.unpack("<2H", assay_gguf.encode(halves, "BF16")) == (0x3F80, 0x3F82)


@pytest.mark.parametrize("cut", [0, 4, 20, 100, 3000, -1])
def test_a_file_that_is_cut_is_not_a_model(model, tmp_path, cut):
    path = tmp_path / "cut.gguf"
    path.write_bytes(model.read_bytes()[:cut])
    with pytest.raises(ValueError, match="is not a GGUF file"):
        assay_gguf.read(str(path))


def test_a_count_beyond_the_limit_is_not_believed(tmp_path):
    path = tmp_path / "large.gguf"
    path.write_bytes(b"GGUF" + struct.pack("<IQQ", 3, 1 << 60, 1))
    with pytest.raises(ValueError, match="a count of"):
        assay_gguf.read(str(path))


def test_it_is_started_as_worker_json_says():
    assert argv_of("llamacpp")[1] == str(FOLDERS["llamacpp"] / "worker.py")
