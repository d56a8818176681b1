"""A Llama with random weights as a GGUF file, and llama.cpp's server on it: a real engine without a download.

The packages are in a virtual environment of their own, because tests need no engine:

    python3 -m venv build/llama && build/llama/bin/pip install -r tests/load/requirements-llama.txt

usage: random_llama.py write FILE | serve FILE PORT
"""

import sys
import time

HIDDEN, LAYERS, HEADS, FEEDFORWARD, VOCABULARY, CONTEXT = 64, 2, 4, 128, 2048, 4096


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


def add_tensors(writer, gguf, np):
    random = np.random.default_rng(0)

    def matrix(name, rows, columns):
        values = (random.standard_normal((rows, columns), dtype=np.float32) * 0.02).astype(np.float16)
        writer.add_tensor(name, values, raw_dtype=gguf.GGMLQuantizationType.F16)

    ones = np.ones(HIDDEN, np.float32)
    matrix("token_embd.weight", VOCABULARY, HIDDEN)
    writer.add_tensor("output_norm.weight", ones)
    matrix("output.weight", VOCABULARY, HIDDEN)
    for layer in range(LAYERS):
        for norm in ("attn_norm", "ffn_norm"):
            writer.add_tensor(f"blk.{layer}.{norm}.weight", ones)
        for part in ("attn_q", "attn_k", "attn_v", "attn_output"):
            matrix(f"blk.{layer}.{part}.weight", HIDDEN, HIDDEN)
        matrix(f"blk.{layer}.ffn_gate.weight", FEEDFORWARD, HIDDEN)
        matrix(f"blk.{layer}.ffn_up.weight", FEEDFORWARD, HIDDEN)
        matrix(f"blk.{layer}.ffn_down.weight", HIDDEN, FEEDFORWARD)


def write(path):
    import gguf
    import numpy as np

    writer = gguf.GGUFWriter(path, "llama")
    writer.add_name("random")
    writer.add_context_length(CONTEXT)
    writer.add_embedding_length(HIDDEN)
    writer.add_block_count(LAYERS)
    writer.add_feed_forward_length(FEEDFORWARD)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(HEADS)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_rope_dimension_count(HIDDEN // HEADS)
    writer.add_rope_freq_base(10000.0)
    writer.add_vocab_size(VOCABULARY)
    writer.add_file_type(1)
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
    add_tensors(writer, gguf, np)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def serve(path, port):
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = path
    params.n_ctx = CONTEXT
    params.n_parallel = 4
    params.hostnames = ["127.0.0.1"]
    params.port = int(port)
    params.cpuparams.n_threads = 1
    params.endpoint_metrics = True
    server = xllamacpp.Server(params)
    print(server.listening_address, flush=True)
    while True:
        time.sleep(3600)


if __name__ == "__main__":
    {"write": write, "serve": serve}[sys.argv[1]](*sys.argv[2:])
