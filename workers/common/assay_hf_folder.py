"""The weights of a GGUF file as the folder that transformers and those who follow it read: safetensors, config.json,
and a tokenizer of bytes.

Of each pair of features that a position turns, GGUF has the two side by side and transformers half a head apart: rows
of queries and keys are put in its order. Nothing else is changed, and no value is rounded.
"""

import json
import os
import struct

import assay_gguf
import assay_kept

WRITER = 1  # raise it when a folder of the same name would hold something else
WEIGHTS = "model.safetensors"
KINDS = {"F32": "F32", "F16": "F16", "BF16": "BF16"}  # of GGUF, and as safetensors names them
DTYPES = {"F32": "float32", "F16": "float16", "BF16": "bfloat16"}
_LAYER = {
    "attn_norm": "input_layernorm",
    "attn_q": "self_attn.q_proj",
    "attn_k": "self_attn.k_proj",
    "attn_v": "self_attn.v_proj",
    "attn_output": "self_attn.o_proj",
    "ffn_norm": "post_attention_layernorm",
    "ffn_gate": "mlp.gate_proj",
    "ffn_up": "mlp.up_proj",
    "ffn_down": "mlp.down_proj",
}
_WHOLE = {"token_embd": "model.embed_tokens", "output_norm": "model.norm", "output": "lm_head"}


def name_of(name):
    """As transformers' Llama names a tensor; ValueError where it has none of that name."""
    parts = name.split(".")
    if parts[-1] == "weight" and len(parts) == 2 and parts[0] in _WHOLE:
        return _WHOLE[parts[0]] + ".weight"
    if parts[-1] == "weight" and len(parts) == 4 and parts[0] == "blk" and parts[2] in _LAYER:
        return "model.layers.%s.%s.weight" % (parts[1], _LAYER[parts[2]])
    raise ValueError("tensor %s is not of a plain Llama" % name)


def config_of(model):
    """config.json of a model whose architecture is llama."""
    m, kind = model.metadata, model.kinds()[0]
    if m.get("general.architecture") != "llama":
        raise ValueError("architecture %r; there is llama" % m.get("general.architecture"))
    heads, hidden = m["llama.attention.head_count"], m["llama.embedding_length"]
    features = hidden // heads
    if m.get("llama.rope.dimension_count", features) != features:
        raise ValueError("only a part of each head is turned by its position")
    base = m.get("llama.rope.freq_base", 10000.0)
    return {
        "architectures": ["LlamaForCausalLM"],
        "model_type": "llama",
        "hidden_act": "silu",
        "hidden_size": hidden,
        "intermediate_size": m["llama.feed_forward_length"],
        "num_hidden_layers": m["llama.block_count"],
        "num_attention_heads": heads,
        "num_key_value_heads": m.get("llama.attention.head_count_kv", heads),
        "head_dim": features,
        "vocab_size": model.tensors["token_embd.weight"][1][0],
        "max_position_embeddings": m["llama.context_length"],
        "rms_norm_eps": m["llama.attention.layer_norm_rms_epsilon"],
        "rope_theta": base,
        "rope_parameters": {"rope_type": "default", "rope_theta": base},
        "tie_word_embeddings": "output.weight" not in model.tensors,
        "bos_token_id": m.get("tokenizer.ggml.bos_token_id"),
        "eos_token_id": m.get("tokenizer.ggml.eos_token_id"),
        "dtype": DTYPES[kind],
    }


def _turned(values, heads):
    """Rows of queries or keys: pairs side by side become two halves of each head."""
    rows, columns = values.shape
    return values.reshape(heads, rows // heads // 2, 2, columns).swapaxes(1, 2).reshape(rows, columns)


def write_weights(path, model, config):
    """model.safetensors: a header in JSON with the place of each tensor, then their bytes."""
    header, offset = {"__metadata__": {"format": "pt"}}, 0
    for name, (kind, shape, _) in model.tensors.items():
        if kind not in KINDS:
            raise ValueError("tensor %s is of kind %s; the folder takes %s" % (name, kind, ", ".join(KINDS)))
        size = assay_gguf.KINDS[kind].bytes
        for length in shape:
            size *= length
        header[name_of(name)] = {"dtype": KINDS[kind], "shape": list(shape), "data_offsets": [offset, offset + size]}
        offset += size
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for name, (kind, _, _) in model.tensors.items():
            values = model.array(name)
            if name.endswith(".attn_q.weight"):
                values = _turned(values, config["num_attention_heads"])
            elif name.endswith(".attn_k.weight"):
                values = _turned(values, config["num_key_value_heads"])
            file.write(assay_gguf.encode(values, kind))


def tokenizer_of(metadata):
    """tokenizer.json of a byte-level tokenizer; None where the file has another one: no text is made here."""
    if metadata.get("tokenizer.ggml.model") != "gpt2" or "tokenizer.ggml.merges" not in metadata:
        return None
    tokens, types = metadata["tokenizer.ggml.tokens"], metadata.get("tokenizer.ggml.token_type", [])
    marks = [i for i, one in enumerate(types) if one == 3]
    plain = {"lstrip": False, "rstrip": False, "single_word": False, "normalized": False, "special": True}
    bytes_alone = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}
    return {
        "version": "1.0",
        "added_tokens": [{"id": i, "content": tokens[i], **plain} for i in marks],
        "pre_tokenizer": bytes_alone,
        "decoder": bytes_alone,
        "model": {
            "type": "BPE",
            "vocab": {token: i for i, token in enumerate(tokens)},
            "merges": metadata["tokenizer.ggml.merges"],
        },
    }


def made(model, cache, key):
    """The folder, as assay_kept has it."""

    def fill(place):
        config = config_of(model)
        write_weights(os.path.join(place, WEIGHTS), model, config)
        texts = {"config.json": config, "tokenizer.json": tokenizer_of(model.metadata)}
        if texts["tokenizer.json"]:
            texts["tokenizer_config.json"] = {"tokenizer_class": "PreTrainedTokenizerFast"}
        for file, value in texts.items():
            if value is not None:
                with open(os.path.join(place, file), "w", encoding="utf-8") as out:
                    json.dump(value, out)

    return assay_kept.folder(cache, "%d %s" % (WRITER, key), WEIGHTS, fill)
