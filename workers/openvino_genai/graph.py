"""The graph that OpenVINO GenAI makes of a GGUF file, fed token by token: the engine of assay_generate."""

import os

import assay_kept
import effective
import numpy

CACHE_KINDS = {"fp32": "f32", "fp16": "f16", "bf16": "bf16", "u8": "u8"}
_BYTES = {"f32": 4, "float32": 4, "f16": 2, "float16": 2, "bf16": 2, "bfloat16": 2, "u8": 1, "uint8_t": 1}


def made(genai, model, cache, key):
    """A folder with the graph, which GenAI writes beside the file that it reads: so it is given a link to it, in a
    folder of its own."""

    def fill(place):
        link = os.path.join(place, "model.gguf")
        os.symlink(model, link)
        genai.LLMPipeline(link, "CPU", enable_save_ov_model=True)
        os.unlink(link)

    return assay_kept.folder(cache, key, "openvino_model.bin", fill)


def weights_bytes(folder):
    return os.path.getsize(os.path.join(folder, "openvino_model.bin"))


def cache_bytes(metadata, sequences, context, kind):
    """Keys and values of all layers for the longest context that a step has."""
    features = metadata["llama.embedding_length"] // metadata["llama.attention.head_count"]
    values = 2 * metadata["llama.block_count"] * metadata["llama.attention.head_count_kv"] * features
    return values * sequences * context * _BYTES[kind]


class Engine:
    def __init__(self, openvino, folder, metadata, sequences, properties):
        self.compiled = effective.compiled_of(openvino, folder, properties)
        self._request = self.compiled.create_infer_request()
        self._sequences = sequences
        self._beams = numpy.arange(sequences, dtype="i4")
        self._logits = None
        self.vocabulary = len(metadata["tokenizer.ggml.tokens"])

    def clear(self):
        self._request.reset_state()

    def prefill(self, tokens):
        self._run(tokens.astype("i8"), 0)

    def decode(self, tokens, position):
        self._run(tokens.astype("i8")[:, None], position)

    def _run(self, tokens, past):
        count = tokens.shape[1]
        places = numpy.arange(past, past + count, dtype="i8")
        inputs = {
            "input_ids": tokens,
            "attention_mask": numpy.ones((self._sequences, past + count), "i8"),
            "position_ids": numpy.broadcast_to(places, tokens.shape),
            "beam_idx": self._beams,
        }
        self._logits = self._request.infer(inputs, share_inputs=True, share_outputs=True)[0]

    def logits(self):
        return self._logits[:, -1].copy()

    def greedy(self):
        return self._logits[:, -1].argmax(1).astype("i4")
