"""A Llama with random weights as a GGUF file, and llama.cpp's server on it: a real engine without a download.

The packages are in a virtual environment of their own, because tests need no engine:

    python3 -m venv build/llama && build/llama/bin/pip install -r tests/load/requirements-llama.txt

usage: random_llama.py write FILE [small | medium] | config FILE | serve FILE PORT [THREADS [SEQUENCES]]

`small` is in F16; `medium` has 41 million parameters in F32, whose 162 MB no cache holds. `config` prints the
config.json of any Llama.
"""

import dataclasses
import json
import sys
import time

VOCABULARY, CONTEXT = 2048, 4096


@dataclasses.dataclass
class Size:
    hidden: int
    layers: int
    heads: int
    feedforward: int
    kind: str


SIZES = {"small": Size(256, 2, 4, 512, "F16"), "medium": Size(512, 12, 8, 1408, "F32")}
# Names of config.json, and those of a GGUF file.
FIELDS = {
    "hidden_size": "embedding_length",
    "intermediate_size": "feed_forward_length",
    "num_hidden_layers": "block_count",
    "num_attention_heads": "attention.head_count",
    "num_key_value_heads": "attention.head_count_kv",
}
TYPES = {"F32": "float32", "F16": "float16", "BF16": "bfloat16"}


def byte_tokens():
    """Bytes as GPT-2 writes them."""
    printable = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = [byte for byte in range(256) if byte not in printable]
    return [chr(byte) for byte in printable] + [chr(256 + place) for place, _ in enumerate(others)]


def word_tokens(tokens):
    """ " a", " b", … " aa", … with the merges that make them, so that a text of k short words has k tokens."""
    merges, level = [], ["\u0120"]
    known = set(tokens)
    while len(tokens) < VOCABULARY - 2:
        following = []
        for prefix in level:
            for letter in "abcdefghijklmnopqrstuvwxyz":
                if len(tokens) < VOCABULARY - 2 and prefix + letter not in known:
                    tokens.append(prefix + letter)
                    known.add(prefix + letter)
                    merges.append(f"{prefix} {letter}")
                    following.append(prefix + letter)
        level = following
    return merges


def add_tensors(writer, gguf, np, size):
    random = np.random.default_rng(0)
    kind = gguf.GGMLQuantizationType[size.kind]

    def matrix(name, rows, columns):
        values = random.standard_normal((rows, columns), dtype=np.float32) * 0.02
        writer.add_tensor(name, values.astype(np.float16) if size.kind == "F16" else values, raw_dtype=kind)

    ones = np.ones(size.hidden, np.float32)
    matrix("token_embd.weight", VOCABULARY, size.hidden)
    writer.add_tensor("output_norm.weight", ones)
    matrix("output.weight", VOCABULARY, size.hidden)
    for layer in range(size.layers):
        for norm in ("attn_norm", "ffn_norm"):
            writer.add_tensor(f"blk.{layer}.{norm}.weight", ones)
        for part in ("attn_q", "attn_k", "attn_v", "attn_output"):
            matrix(f"blk.{layer}.{part}.weight", size.hidden, size.hidden)
        matrix(f"blk.{layer}.ffn_gate.weight", size.feedforward, size.hidden)
        matrix(f"blk.{layer}.ffn_up.weight", size.feedforward, size.hidden)
        matrix(f"blk.{layer}.ffn_down.weight", size.hidden, size.feedforward)


def write(path, name="small"):
    import gguf
    import numpy as np

    size = SIZES[name]
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_name("random")
    writer.add_context_length(CONTEXT)
    writer.add_embedding_length(size.hidden)
    writer.add_block_count(size.layers)
    writer.add_feed_forward_length(size.feedforward)
    writer.add_head_count(size.heads)
    writer.add_head_count_kv(size.heads)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_rope_dimension_count(size.hidden // size.heads)
    writer.add_rope_freq_base(10000.0)
    writer.add_vocab_size(VOCABULARY)
    writer.add_file_type(gguf.LlamaFileType.MOSTLY_F16 if size.kind == "F16" else gguf.LlamaFileType.ALL_F32)
    tokens = byte_tokens()
    merges = word_tokens(tokens)
    tokens += ["<|bos|>", "<|eos|>"]
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("gpt-2")
    writer.add_token_list(tokens)
    writer.add_token_types([1] * (VOCABULARY - 2) + [3, 3])
    writer.add_token_merges(merges)
    writer.add_bos_token_id(VOCABULARY - 2)
    writer.add_eos_token_id(VOCABULARY - 1)
    writer.add_add_bos_token(False)
    writer.add_chat_template("{% for m in messages %}{{ m['content'] }} {% endfor %}")
    add_tensors(writer, gguf, np, size)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def config(path):
    import gguf

    reader = gguf.GGUFReader(path)

    def number(name, otherwise=None):
        field = reader.get_field(f"llama.{name}")
        return otherwise if field is None else int(field.contents())

    said = {"model_type": "llama"} | {name: number(field) for name, field in FIELDS.items()}
    if None in said.values():
        raise SystemExit(f"{path} is not a Llama: it lacks one of {', '.join(FIELDS.values())}")
    said["vocab_size"] = number("vocab_size") or len(reader.get_field("tokenizer.ggml.tokens").data)
    said["head_dim"] = number("attention.key_length", said["hidden_size"] // said["num_attention_heads"])
    kinds = {tensor.tensor_type.name for tensor in reader.tensors if len(tensor.shape) > 1}
    said["torch_dtype"] = TYPES.get(kinds.pop(), "quantised") if len(kinds) == 1 else "mixed"
    said["tie_word_embeddings"] = all(tensor.name != "output.weight" for tensor in reader.tensors)
    print(json.dumps(said))


def serve(path, port, threads="1", sequences="4"):
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = path
    params.n_ctx = CONTEXT
    params.n_parallel = int(sequences)
    params.hostnames = ["127.0.0.1"]
    params.port = int(port)
    params.cpuparams.n_threads = int(threads)
    params.endpoint_metrics = True
    server = xllamacpp.Server(params)
    print(server.listening_address, flush=True)
    while True:
        time.sleep(3600)


if __name__ == "__main__":
    {"write": write, "config": config, "serve": serve}[sys.argv[1]](*sys.argv[2:])
