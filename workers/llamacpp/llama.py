"""llama.cpp by its C functions, which the shared object of xllamacpp exports.

Structures of parameters travel by value, and their layout is that of the release in requirements.txt: fields are set by
their place, and `check_layout` holds the defaults there to what llama.cpp documents before anything is asked of it.
"""

import ctypes
import os
import re
import struct

_POINTER = ctypes.c_void_p
_PARAMETER_BYTES = 512  # more than any structure of parameters has: what is beyond its end is not looked at
# Places in llama_context_params, with the default that stands there.
_PLACES = {
    "n_ctx": (0, "I", 512),
    "n_batch": (4, "I", 2048),
    "n_ubatch": (8, "I", 512),
    "n_seq_max": (12, "I", 1),
    "n_threads": (28, "i", 4),
    "n_threads_batch": (32, "i", 4),
    "flash_attn_type": (52, "i", -1),
    "type_k": (104, "i", 1),
    "type_v": (108, "i", 1),
}
CACHE_KINDS = {"fp32": (0, 4.0), "fp16": (1, 2.0), "bf16": (30, 2.0), "q8_0": (8, 34 / 32)}  # number, bytes a value


class _Parameters(ctypes.Structure):
    _fields_ = [("bytes", ctypes.c_ubyte * _PARAMETER_BYTES)]


class _Batch(ctypes.Structure):
    _fields_ = [
        ("count", ctypes.c_int32),
        ("token", _POINTER),
        ("embedding", _POINTER),
        ("position", _POINTER),
        ("sequences", _POINTER),
        ("sequence", _POINTER),
        ("logits", _POINTER),
    ]


def load():
    """The library, with the types of all functions that are called here."""
    import xllamacpp

    folder = os.path.dirname(xllamacpp.__file__)
    name = next(file for file in sorted(os.listdir(folder)) if file.startswith("xllamacpp.") and file.endswith(".so"))
    library = ctypes.CDLL(os.path.join(folder, name))
    signatures = {
        "llama_model_default_params": (_Parameters, []),
        "llama_context_default_params": (_Parameters, []),
        "llama_model_load_from_file": (_POINTER, [ctypes.c_char_p, _Parameters]),
        "llama_init_from_model": (_POINTER, [_POINTER, _Parameters]),
        "llama_free": (None, [_POINTER]),
        "llama_model_free": (None, [_POINTER]),
        "llama_decode": (ctypes.c_int32, [_POINTER, _Batch]),
        "llama_synchronize": (None, [_POINTER]),
        "llama_get_logits_ith": (ctypes.POINTER(ctypes.c_float), [_POINTER, ctypes.c_int32]),
        "llama_get_memory": (_POINTER, [_POINTER]),
        "llama_memory_clear": (None, [_POINTER, ctypes.c_bool]),
        "llama_model_n_params": (ctypes.c_uint64, [_POINTER]),
        "llama_model_size": (ctypes.c_uint64, [_POINTER]),
        "llama_model_n_ctx_train": (ctypes.c_int32, [_POINTER]),
        "llama_model_n_embd": (ctypes.c_int32, [_POINTER]),
        "llama_model_n_layer": (ctypes.c_int32, [_POINTER]),
        "llama_model_n_head": (ctypes.c_int32, [_POINTER]),
        "llama_model_n_head_kv": (ctypes.c_int32, [_POINTER]),
        "llama_model_get_vocab": (_POINTER, [_POINTER]),
        "llama_vocab_n_tokens": (ctypes.c_int32, [_POINTER]),
        "llama_n_ctx": (ctypes.c_uint32, [_POINTER]),
        "llama_n_ctx_seq": (ctypes.c_uint32, [_POINTER]),
        "llama_n_batch": (ctypes.c_uint32, [_POINTER]),
        "llama_n_ubatch": (ctypes.c_uint32, [_POINTER]),
        "llama_n_seq_max": (ctypes.c_uint32, [_POINTER]),
        "llama_n_threads": (ctypes.c_int32, [_POINTER]),
        "llama_n_threads_batch": (ctypes.c_int32, [_POINTER]),
        "llama_log_set": (None, [_POINTER, _POINTER]),
    }
    declare(library, signatures)
    check_layout(library)
    library.llama_backend_init()
    return library


def declare(library, signatures):
    """The types of functions: their names, with what each returns and takes."""
    for name, (result, arguments) in signatures.items():
        function = getattr(library, name)
        function.restype, function.argtypes = result, arguments


class _Log:
    """What llama.cpp says while a model is loaded. Afterwards it speaks to a function that does nothing, so that no
    line is written, nor Python called, in a step that is timed."""

    def __init__(self, library):
        self.text = ""
        self._library = library
        self._hear = ctypes.CFUNCTYPE(None, ctypes.c_int, ctypes.c_char_p, _POINTER)(self._add)
        library.llama_log_set(ctypes.cast(self._hear, _POINTER), None)

    def _add(self, level, text, _):
        self.text += text.decode("utf-8", "replace")

    def end(self):
        nothing = ctypes.CDLL(None).labs  # looks at its first argument and returns
        self._library.llama_log_set(ctypes.cast(nothing, _POINTER), None)


def check_layout(library):
    """A release whose structure is another one must not be fed by guess."""
    defaults = library.llama_context_default_params()
    for name, (place, form, default) in _PLACES.items():
        found = struct.unpack_from("<" + form, defaults.bytes, place)[0]
        if found != default:
            message = "llama_context_params of this xllamacpp has another layout: %s is %d where %d is due"
            raise RuntimeError(message % (name, found, default))


class Engine:
    """A model and a context for `sequences` of at most `context` tokens each; the engine of assay_generate."""

    def __init__(self, path, sequences, context, most_at_once, cache_kind, threads, prefill_threads, ubatch):
        self._library = library = load()
        log = _Log(library)
        self._model = library.llama_model_load_from_file(path.encode(), library.llama_model_default_params())
        if not self._model:
            raise RuntimeError("llama.cpp cannot load %s: %s" % (path, log.text[-500:]))
        wanted = {"n_ctx": sequences * context, "n_batch": most_at_once, "n_seq_max": sequences}
        wanted["n_ubatch"] = min(ubatch or 512, most_at_once)
        if threads is not None:
            wanted["n_threads"] = wanted["n_threads_batch"] = threads
        if prefill_threads is not None:
            wanted["n_threads_batch"] = prefill_threads
        if cache_kind is not None:
            wanted["type_k"] = wanted["type_v"] = CACHE_KINDS[cache_kind][0]
        if cache_kind == "fp32":
            wanted["flash_attn_type"] = 0  # it would round keys and values to fp16, whatever the cache holds
        parameters = library.llama_context_default_params()
        for name, value in wanted.items():
            place, form, _ = _PLACES[name]
            struct.pack_into("<" + form, parameters.bytes, place, value)
        self._context = library.llama_init_from_model(self._model, parameters)
        if not self._context:
            raise RuntimeError("llama.cpp cannot make a context of %r: %s" % (wanted, log.text[-500:]))
        log.end()
        self._memory = library.llama_get_memory(self._context)
        self.vocabulary = library.llama_vocab_n_tokens(library.llama_model_get_vocab(self._model))
        self._sequences = sequences
        self._one = _Pieces(sequences, 1)
        self._last = []  # index in the last batch of the token of each sequence whose logits were asked for
        kinds = re.search(r"K \((\w+)\):.*V \((\w+)\):", log.text)
        self._cache_kind = cache_kind or "fp16"
        self._flash_said = re.search(r"flash_attn\s*= (\w+)", log.text)
        self._cache_said = "/".join(dict.fromkeys(kinds.groups())) if kinds else None

    def parameters(self):
        return self._library.llama_model_n_params(self._model)

    def weights_bytes(self):
        return self._library.llama_model_size(self._model)

    def cache_bytes(self):
        """Keys and values of all layers for all places that the context has."""
        library, model = self._library, self._model
        features = library.llama_model_n_embd(model) // library.llama_model_n_head(model)
        values = 2 * library.llama_model_n_layer(model) * features * library.llama_model_n_head_kv(model)
        return int(values * library.llama_n_ctx(self._context) * CACHE_KINDS[self._cache_kind][1])

    def most_context(self):
        return self._library.llama_model_n_ctx_train(self._model)

    def effective(self):
        """Read back from the context."""
        library, context = self._library, self._context
        return {
            "intra_op": library.llama_n_threads(context),
            "prefill_threads": library.llama_n_threads_batch(context),
            "prefill_tokens": library.llama_n_ubatch(context),
            "batch_tokens": library.llama_n_batch(context),
            "context_tokens": library.llama_n_ctx_seq(context),
            "sequences": library.llama_n_seq_max(context),
            **({"cache": self._cache_said} if self._cache_said else {}),
            **({"flash_attention": self._flash_said[1]} if self._flash_said else {}),
        }

    def clear(self):
        self._library.llama_memory_clear(self._memory, False)

    def prefill(self, tokens):
        """All prompts at once; llama.cpp cuts them into pieces of n_ubatch."""
        sequences, count = tokens.shape
        batch = _Pieces(sequences, count)
        batch.fill(tokens.ravel(), [i for _ in range(sequences) for i in range(count)])
        self._last = [(s + 1) * count - 1 for s in range(sequences)]
        self._decode(batch)

    def decode(self, tokens, position):
        self._one.fill(tokens, position)
        self._last = range(self._sequences)
        self._decode(self._one)

    def _decode(self, batch):
        code = self._library.llama_decode(self._context, batch.struct)
        if code != 0:
            raise RuntimeError("llama_decode ended with %d" % code)
        self._library.llama_synchronize(self._context)

    def logits(self):
        import numpy

        rows = []
        for index in self._last:
            pointer = self._library.llama_get_logits_ith(self._context, index)
            rows.append(numpy.ctypeslib.as_array(pointer, (self.vocabulary,)))
        return numpy.stack(rows)

    def greedy(self):
        return self.logits().argmax(1).astype("i4")


class _Pieces:
    """A batch of so many sequences with so many tokens each, whose arrays stay where they are."""

    def __init__(self, sequences, count):
        import numpy

        total = sequences * count
        self._tokens, self._positions = numpy.zeros(total, "i4"), numpy.zeros(total, "i4")
        self._ones = numpy.ones(total, "i4")
        self._sequence = numpy.repeat(numpy.arange(sequences, dtype="i4"), count)
        # Only the last token of each sequence chooses the next.
        self._logits = numpy.tile(numpy.arange(count) == count - 1, sequences).astype("i1")
        self._pointers = (_POINTER * (total + 1))(*[self._sequence.ctypes.data + 4 * i for i in range(total)], None)
        self.struct = _Batch(
            total,
            self._tokens.ctypes.data,
            None,
            self._positions.ctypes.data,
            self._ones.ctypes.data,
            ctypes.addressof(self._pointers),
            self._logits.ctypes.data,
        )

    def fill(self, tokens, positions):
        self._tokens[:] = tokens
        self._positions[:] = positions
