"""Llama models with weights drawn from a seed, for engines that generate text: shapes, files, prompts.

    python assay_llama.py llama_9m model.gguf --precision f16      # writes a file that any reader of GGUF takes
    path = assay_llama.file_of(prepare)                              # a user's file, or one made once and kept

The same seed gives the same weights in every precision: they are drawn in fp32 and then rounded. Matrices keep the size
of what passes through them, and what is added to the residual stream is small, so that rounding does not grow from
layer to layer. Gains of norms differ from 1, so that an engine that leaves one out computes something else.
"""

import argparse
import atexit
import collections
import hashlib
import math
import os
import sys
import tempfile

import assay_gguf
import assay_worker

WRITER = 1  # raise it when a file of the same name would hold something else
Shape = collections.namedtuple("Shape", "hidden layers heads key_heads feedforward vocabulary")
SHAPES = {
    "llama_9m": Shape(256, 9, 8, 4, 704, 4096),
    "llama_60m": Shape(512, 14, 8, 4, 1408, 16384),
    "llama_300m": Shape(1024, 21, 16, 4, 2816, 32000),
    "tinyllama_1b": Shape(2048, 22, 32, 4, 5632, 32000),  # that of TinyLlama 1.1B
}
PRECISIONS = {"fp32": "F32", "fp16": "F16", "bf16": "BF16", "q8_0": "Q8_0", "q4_0": "Q4_0"}
CONTEXT, EPSILON, ROTARY_BASE = 4096, 1e-5, 10000.0
_PART = 1 << 24  # values drawn at once


def parameters(shape):
    """Weights of all matrices and norms; the embedding and the output are apart."""
    head = shape.hidden // shape.heads
    layer = 2 * shape.hidden * shape.hidden + 2 * shape.hidden * head * shape.key_heads
    layer += 3 * shape.hidden * shape.feedforward + 2 * shape.hidden
    return 2 * shape.vocabulary * shape.hidden + shape.layers * layer + shape.hidden


def _uniform(stream, begin, count):
    """Numbers in [-1, 1): SplitMix64 of a counter, its upper 24 bits, so that they are exact in fp32."""
    import numpy

    with numpy.errstate(over="ignore"):
        z = numpy.arange(begin + 1, begin + count + 1, dtype="u8") * numpy.uint64(0x9E3779B97F4A7C15)
        z += numpy.uint64(stream)
        z = (z ^ (z >> numpy.uint64(30))) * numpy.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> numpy.uint64(27))) * numpy.uint64(0x94D049BB133111EB)
        z ^= z >> numpy.uint64(31)
    return (z >> numpy.uint64(40)).astype("f4") * numpy.float32(2**-23) - 1


def _stream(seed, name):
    return int.from_bytes(hashlib.sha256(("%d %s" % (seed, name)).encode()).digest()[:8], "little")


def _drawn(seed, name, shape, width, middle=0.0):
    """A function that gives the tensor row by row, or some rows at once: `middle` and at most `width` beside it."""

    def make():
        columns = shape[-1]
        rows = 1 if len(shape) == 1 else shape[0]
        step = max(1, _PART // columns)
        for row in range(0, rows, step):
            count = min(step, rows - row)
            values = _uniform(_stream(seed, name), row * columns, count * columns) * width + middle
            yield values.astype("f4").reshape(count, columns)

    return make


def tensors_of(shape, kind, seed):
    """All tensors by the names of GGUF. Norms stay F32, as engines want them."""
    head = shape.hidden // shape.heads
    added = math.sqrt(3 / (2 * shape.layers))  # of what is added to the residual stream
    tensors = []

    def matrix(name, rows, columns, size=1.0):
        width = size * math.sqrt(3 / columns)
        tensors.append(assay_gguf.Tensor(name, (rows, columns), kind, _drawn(seed, name, (rows, columns), width)))

    def norm(name):
        make = _drawn(seed, name, (shape.hidden,), 0.2, 1.0)
        tensors.append(assay_gguf.Tensor(name, (shape.hidden,), "F32", make))

    matrix("token_embd.weight", shape.vocabulary, shape.hidden, math.sqrt(shape.hidden / 3))
    norm("output_norm.weight")
    matrix("output.weight", shape.vocabulary, shape.hidden)
    for i in range(shape.layers):
        layer = "blk.%d." % i
        norm(layer + "attn_norm.weight")
        matrix(layer + "attn_q.weight", shape.hidden, shape.hidden)
        matrix(layer + "attn_k.weight", head * shape.key_heads, shape.hidden)
        matrix(layer + "attn_v.weight", head * shape.key_heads, shape.hidden)
        matrix(layer + "attn_output.weight", shape.hidden, shape.hidden, added)
        norm(layer + "ffn_norm.weight")
        matrix(layer + "ffn_gate.weight", shape.feedforward, shape.hidden)
        matrix(layer + "ffn_up.weight", shape.feedforward, shape.hidden)
        matrix(layer + "ffn_down.weight", shape.hidden, shape.feedforward, added)
    return tensors


def vocabulary_of(size):
    """Tokens and merges of a byte-level tokenizer: every byte, then pairs, triples, … of small letters; the last two
    are the marks of begin and end."""
    shown = {byte: byte for byte in range(256) if 33 <= byte <= 126 or 161 <= byte <= 172 or byte >= 174}
    for byte in range(256):
        shown.setdefault(byte, 256 + len(shown) - 188)  # 188 bytes are shown as themselves
    tokens, merges = [chr(shown[byte]) for byte in range(256)], []
    letters = [chr(c) for c in range(ord("a"), ord("z") + 1)]
    level = letters
    while len(tokens) < size - 2:
        longer = []
        for left in level:
            for right in letters:
                if len(tokens) < size - 2:
                    tokens.append(left + right)
                    merges.append("%s %s" % (left, right))
                    longer.append(left + right)
        level = longer
    return tokens + ["<s>", "</s>"], merges


def metadata_of(name, shape, kind):
    tokens, merges = vocabulary_of(shape.vocabulary)
    head = shape.hidden // shape.heads
    return {
        "general.architecture": "llama",
        "general.name": name,
        "general.file_type": assay_gguf.KINDS[kind].file_type,
        "general.quantization_version": 2,
        "llama.context_length": CONTEXT,
        "llama.embedding_length": shape.hidden,
        "llama.block_count": shape.layers,
        "llama.feed_forward_length": shape.feedforward,
        "llama.attention.head_count": shape.heads,
        "llama.attention.head_count_kv": shape.key_heads,
        "llama.attention.layer_norm_rms_epsilon": EPSILON,
        "llama.rope.dimension_count": head,
        "llama.rope.freq_base": ROTARY_BASE,
        "llama.vocab_size": shape.vocabulary,
        "tokenizer.ggml.model": "gpt2",
        "tokenizer.ggml.pre": "gpt-2",
        "tokenizer.ggml.tokens": tokens,
        "tokenizer.ggml.token_type": [1] * (len(tokens) - 2) + [3, 3],  # ordinary ones, and two that control
        "tokenizer.ggml.merges": merges,
        "tokenizer.ggml.bos_token_id": shape.vocabulary - 2,
        "tokenizer.ggml.eos_token_id": shape.vocabulary - 1,
        "tokenizer.ggml.add_bos_token": False,
        "tokenizer.chat_template": "{% for message in messages %}{{ message['content'] }}{% endfor %}",
    }


def write_model(path, name, precision, seed=0):
    """Under another name first: a file that is there is whole."""
    shape, kind = SHAPES[name], PRECISIONS[precision]
    unfinished = "%s.%d" % (path, os.getpid())
    try:
        with open(unfinished, "wb") as file:
            assay_gguf.write(file, metadata_of(name, shape, kind), tensors_of(shape, kind, seed))
        os.replace(unfinished, path)
    finally:
        if os.path.exists(unfinished):
            os.unlink(unfinished)


def file_of(prepare):
    """The path of the model that `prepare` names. A file of the user's that has changed is refused; a named shape is
    written where no other run has."""
    workload = prepare.workload
    if prepare.file is not None:
        import assay_file

        prepare.options({})
        assay_file.refuse_changed(prepare, _sha256(prepare.file["path"]))
        return prepare.file["path"]
    name, precision = workload["network"], workload.get("precision") or "fp32"
    if name not in SHAPES:
        raise assay_worker.Refused("network '%s': there is %s, and FILE.gguf." % (name, ", ".join(SHAPES)))
    if precision not in PRECISIONS:
        raise assay_worker.Refused("precision '%s': there is %s." % (precision, ", ".join(PRECISIONS)))
    seed = prepare.options({"seed": 0})["seed"]
    if not isinstance(seed, int) or isinstance(seed, bool) or not 0 <= seed < 1 << 53:
        raise assay_worker.Refused("option seed: %r is not a whole number from 0 on." % (seed,))
    folder = os.path.join(os.path.dirname(prepare.cache), "language_models") if prepare.cache else _own_folder()
    os.makedirs(folder, exist_ok=True)
    path = os.path.join(folder, "%s-%s-%d-%d.gguf" % (name, precision, seed, WRITER))
    if os.path.exists(path):
        os.utime(path)  # the cache drops what was not used for the longest time
    else:
        write_model(path, name, precision, seed)
    return path


def _own_folder():
    """Gone when this process ends."""
    folder = tempfile.TemporaryDirectory(prefix="assay-")
    atexit.register(folder.cleanup)
    return folder.name


def _sha256(path):
    digest = hashlib.sha256()
    try:
        with open(path, "rb") as file:
            while part := file.read(1 << 22):
                digest.update(part)
    except OSError as error:
        raise assay_worker.Refused("%s cannot be read: %s." % (path, error.strerror)) from None
    return digest.hexdigest()


def tokens_of(seed, sequences, count, vocabulary):
    """Prompts and forced answers: `count` tokens for each sequence in an array; neither of the marks is among them."""
    numbers = _uniform(_stream(seed, "tokens"), 0, sequences * count)
    return ((numbers.astype("f8") + 1) / 2 * (vocabulary - 2)).astype("i4").reshape(sequences, count)


def main():
    parser = argparse.ArgumentParser(description="Write a Llama model with weights from a seed as a GGUF file.")
    parser.add_argument("shape", choices=SHAPES)
    parser.add_argument("path")
    parser.add_argument("--precision", choices=PRECISIONS, default="fp16")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    write_model(options.path, options.shape, options.precision, options.seed)
    written = os.path.getsize(options.path)
    print("%s: %d parameters, %d bytes" % (options.path, parameters(SHAPES[options.shape]), written))


if __name__ == "__main__":
    sys.exit(main())
