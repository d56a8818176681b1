"""A Llama with a cache of keys and values, its weights read from a GGUF file: the engine of assay_generate in torch."""

import assay_gguf
import assay_llama
import assay_worker
import torch
from torch.nn import functional

DTYPES = {"fp32": torch.float32, "fp16": torch.float16, "bf16": torch.bfloat16, "fp64": torch.float64}
# Weights that torch has no type for are what they stand for, in fp32.
_OF_FILES = {"F32": "fp32", "F16": "fp16", "BF16": "bf16", "Q8_0": "fp32", "Q4_0": "fp32"}


class Llama:
    """The model: what llama.cpp and others compute for architecture `llama`. Tensors are named as in the file."""

    def __init__(self, model, dtype):
        metadata = model.metadata
        architecture = metadata.get("general.architecture")
        if architecture != "llama":
            raise assay_worker.Refused("%s: architecture %r; there is llama." % (model.path, architecture))
        self.layers = metadata["llama.block_count"]
        self.heads = metadata["llama.attention.head_count"]
        self.key_heads = metadata.get("llama.attention.head_count_kv", self.heads)
        self.features = metadata["llama.embedding_length"] // self.heads
        self.epsilon = metadata["llama.attention.layer_norm_rms_epsilon"]
        self.base = metadata.get("llama.rope.freq_base", 10000.0)
        self.most_context = metadata["llama.context_length"]
        if metadata.get("llama.rope.dimension_count", self.features) != self.features:
            raise assay_worker.Refused("%s: only a part of each head is turned by its position." % model.path)
        self.weights = {name: torch.tensor(model.array(name)).to(dtype) for name in model.tensors}
        self.weights.setdefault("output.weight", self.weights["token_embd.weight"])  # one matrix for both
        self.vocabulary = self.weights["output.weight"].shape[0]
        self.dtype = dtype

    def angles(self, count):
        """Cosines and sines of the turns of each place, (count, features / 2)."""
        powers = torch.arange(0, self.features, 2, dtype=torch.float64) / self.features
        turns = torch.outer(torch.arange(count, dtype=torch.float64), self.base**-powers)
        return turns.cos().to(self.dtype), turns.sin().to(self.dtype)

    def run(self, tokens, cos, sin, attend):
        """Logits of the last token of each sequence. `attend(layer, query, key, value)` mixes (sequences, heads,
        tokens, features)."""
        w, sequences, count = self.weights, tokens.shape[0], tokens.shape[1]
        x = functional.embedding(tokens, w["token_embd.weight"])
        for i in range(self.layers):
            name = "blk.%d." % i
            normal = self._norm(x, w[name + "attn_norm.weight"])
            query = self._split(functional.linear(normal, w[name + "attn_q.weight"]), self.heads)
            key = self._split(functional.linear(normal, w[name + "attn_k.weight"]), self.key_heads)
            value = self._split(functional.linear(normal, w[name + "attn_v.weight"]), self.key_heads)
            mixed = attend(i, _turned(query, cos, sin), _turned(key, cos, sin), value)
            mixed = mixed.transpose(1, 2).reshape(sequences, count, self.heads * self.features)
            x = x + functional.linear(mixed, w[name + "attn_output.weight"])
            normal = self._norm(x, w[name + "ffn_norm.weight"])
            gate = functional.silu(functional.linear(normal, w[name + "ffn_gate.weight"]))
            gated = gate * functional.linear(normal, w[name + "ffn_up.weight"])
            x = x + functional.linear(gated, w[name + "ffn_down.weight"])
        x = self._norm(x[:, -1], w["output_norm.weight"])
        return functional.linear(x, w["output.weight"])

    def _norm(self, x, weight):
        return functional.rms_norm(x, (x.shape[-1],), weight, self.epsilon)

    def _split(self, x, heads):
        return x.view(x.shape[0], x.shape[1], heads, self.features).transpose(1, 2)


def _turned(x, cos, sin):
    """Neighbouring features are the two parts of a complex number, as in the files of llama.cpp."""
    even, odd = x[..., 0::2], x[..., 1::2]
    return torch.stack((even * cos - odd * sin, even * sin + odd * cos), -1).flatten(-2)


class Engine:
    """For `sequences` of at most `context` tokens. Compiled, a token attends to the whole cache under a mask, so that
    one graph serves all places; eager, to what is there."""

    def __init__(self, llama, sequences, context, cache_dtype, backend=None):
        self._llama, self.vocabulary = llama, llama.vocabulary
        shape = (llama.layers, sequences, llama.key_heads, context, llama.features)
        self._keys, self._values = torch.zeros(shape, dtype=cache_dtype), torch.zeros(shape, dtype=cache_dtype)
        self._cos, self._sin = llama.angles(context)
        self._logits = None
        self._places = torch.arange(context)
        self._masked = backend is not None
        self._decode, self._prefill = self._decode_eager, self._prefill_eager
        if backend is not None:
            self._decode = torch.compile(self._decode_masked, backend=backend, fullgraph=True)
            self._prefill = torch.compile(self._prefill_eager, backend=backend, fullgraph=True)

    def parameters(self):
        return sum(tensor.numel() for tensor in {id(t): t for t in self._llama.weights.values()}.values())

    def weights_bytes(self):
        return sum(t.numel() * t.element_size() for t in {id(t): t for t in self._llama.weights.values()}.values())

    def cache_bytes(self):
        return 2 * self._keys.numel() * self._keys.element_size()

    def clear(self):
        """What is in the cache beyond the place that is computed is never read."""

    @torch.inference_mode()
    def prefill(self, tokens):
        self._logits = self._prefill(torch.from_numpy(tokens.astype("i8")))

    @torch.inference_mode()
    def decode(self, tokens, position):
        tokens = torch.from_numpy(tokens.astype("i8"))[:, None]
        self._logits = self._decode(tokens, self._places[position : position + 1] if self._masked else position)

    def greedy(self):
        return self._logits.argmax(1).numpy().astype("i4")

    def logits(self):
        return self._logits.double().numpy()

    def _prefill_eager(self, tokens):
        count = tokens.shape[1]

        def attend(layer, query, key, value):
            self._keys[layer, :, :, :count] = key
            self._values[layer, :, :, :count] = value
            return functional.scaled_dot_product_attention(query, key, value, is_causal=True, enable_gqa=True)

        return self._llama.run(tokens, self._cos[:count], self._sin[:count], attend)

    def _decode_eager(self, tokens, position):
        def attend(layer, query, key, value):
            self._keys[layer, :, :, position : position + 1] = key
            self._values[layer, :, :, position : position + 1] = value
            keys = self._keys[layer, :, :, : position + 1].to(query.dtype)
            values = self._values[layer, :, :, : position + 1].to(query.dtype)
            return functional.scaled_dot_product_attention(query, keys, values, enable_gqa=True)

        return self._llama.run(tokens, self._cos[position : position + 1], self._sin[position : position + 1], attend)

    def _decode_masked(self, tokens, position):
        mask = (self._places <= position)[None, None, None, :]

        def attend(layer, query, key, value):
            self._keys[layer].index_copy_(2, position, key.to(self._keys.dtype))
            self._values[layer].index_copy_(2, position, value.to(self._values.dtype))
            keys, values = self._keys[layer].to(query.dtype), self._values[layer].to(query.dtype)
            return functional.scaled_dot_product_attention(query, keys, values, attn_mask=mask, enable_gqa=True)

        return self._llama.run(tokens, self._cos[position], self._sin[position], attend)


def build(prepare):
    """The engine for what `prepare` asks, and settings that took effect."""
    if (prepare.placement.get("device") or "cpu") != "cpu":
        raise assay_worker.Refused("device '%s': text is generated on the CPU here." % prepare.placement["device"])
    try:
        model = assay_gguf.read(assay_llama.file_of(prepare))
    except ValueError as error:
        raise assay_worker.Refused("%s." % error) from None
    precision = prepare.workload["precision"]
    if precision == "file":
        precision = _OF_FILES[model.kinds()[0]]
    if precision not in DTYPES:
        raise assay_worker.Refused("precision '%s': there is file, %s." % (precision, ", ".join(DTYPES)))
    generate = prepare.workload["generate"]
    cache = generate.get("cache_precision") or precision
    if cache not in DTYPES:
        raise assay_worker.Refused("cache_precision '%s': there is %s." % (cache, ", ".join(DTYPES)))
    backend = prepare.settings.get("compile")
    if backend is not None and backend not in torch._dynamo.list_backends():
        known = ", ".join(torch._dynamo.list_backends())
        raise assay_worker.Refused("compile '%s' is unknown here. There is %s." % (backend, known))
    llama = Llama(model, DTYPES[precision])
    context = generate["prompt_tokens"] + generate["output_tokens"]
    engine = Engine(llama, generate["sequences"], context, DTYPES[cache], backend)
    effective = {"weights": str(llama.dtype).removeprefix("torch."), "file_kind": model.kinds()[0]}
    effective["cache"] = str(engine._keys.dtype).removeprefix("torch.")
    if backend is not None:
        effective["compile"] = backend
    return engine, llama.most_context, effective
