"""ONNX Runtime GenAI's own generator, token by token: the engine of assay_generate."""

import json
import os

import numpy


def _threads():
    return len(os.listdir("/proc/self/task"))


class Engine:
    """For `sequences` of at most `context` tokens; `threads` is None where that is left to ONNX Runtime."""

    def __init__(self, genai, folder, sequences, context, threads):
        config = genai.Config(folder)
        if threads is not None:
            options = {"session_options": {"intra_op_num_threads": threads}}
            config.overlay(json.dumps({"model": {"decoder": options}}))
        before = _threads()
        self._model = genai.Model(config)
        # One that loads models, and one less than were asked for: the thread that calls is the last of them.
        self._pool = _threads() - before
        params = genai.GeneratorParams(self._model)
        # As long as it is not full, no end is chosen: every answer has as many tokens as were asked for.
        params.set_search_options(batch_size=sequences, max_length=context, min_length=context, do_sample=False)
        self._options = params.get_search_options()
        self._generator = genai.Generator(self._model, params)
        with open(os.path.join(folder, "genai_config.json"), encoding="utf-8") as file:
            said = json.load(file)["model"]
        self.vocabulary, self._layers = said["vocab_size"], said["decoder"]["num_hidden_layers"]
        self._ends = numpy.atleast_1d(said["eos_token_id"])
        self._forced = numpy.full((sequences, 1, self.vocabulary), -numpy.inf, "f4")
        self._rows = numpy.arange(sequences)
        self._logits, self._chosen, self._begun = None, False, False

    def cache(self):
        """Bytes of keys and values, and their type, once a prompt has been read."""
        key = numpy.asarray(self._generator.get_output("present.0.key"))
        return 2 * self._layers * key.nbytes, key.dtype.name

    def effective(self):
        return {
            "intra_op": self._pool,
            "sequences": int(self._options["batch_size"]),
            "context_tokens": int(self._options["max_length"]),
            "prefill_tokens": "all" if not self._options["chunk_size"] else int(self._options["chunk_size"]),
            "cache_in_place": "on" if self._options["past_present_share_buffer"] else "off",
        }

    def clear(self):
        if self._begun:
            self._generator.rewind_to(0)
        self._begun, self._chosen = True, False

    def prefill(self, tokens):
        self._generator.append_tokens(numpy.ascontiguousarray(tokens))
        self._logits = self._generator.get_logits()

    def decode(self, tokens, position):
        """GenAI's search chooses the token: freely after greedy(), else among one."""
        generator = self._generator
        if not self._chosen:
            self._forced[self._rows, 0, tokens] = 0
            generator.set_logits(self._forced)
            self._forced[self._rows, 0, tokens] = -numpy.inf
        self._chosen = False
        generator.generate_next_token()
        if not numpy.array_equal(generator.get_next_tokens(), tokens):
            raise RuntimeError("GenAI wrote other tokens than those that it was given")
        self._logits = generator.get_logits()

    def logits(self):
        return numpy.asarray(self._logits)[:, -1]

    def greedy(self):
        self._chosen = True
        logits = self.logits().copy()
        logits[:, self._ends] = -numpy.inf
        return logits.argmax(1).astype("i4")
