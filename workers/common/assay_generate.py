"""Text generation, the part that is the same for engines which are fed token by token.

A worker's author writes an engine:

    class MyEngine:
        vocabulary = …
        def clear(self): …                            # forget all sequences
        def prefill(self, tokens): …                  # (sequences, prompt) whole numbers; until logits are there
        def decode(self, tokens, position): …         # one token for each sequence, all at this place
        def greedy(self): …                           # the most probable next token of each sequence
        def logits(self): …                           # float32 (sequences, vocabulary) of what was computed last

and hands it to Answers, whose step() is one whole answer. A token is there when the logits that choose it are.
"""

import time

import assay_graph
import assay_llama
import assay_worker


class Asked:
    """What the workload asks for, with the tokens of prompts and forced answers."""

    def __init__(self, prepare, vocabulary):
        generate = prepare.workload["generate"]
        self.prompt, self.output = generate["prompt_tokens"], generate["output_tokens"]
        self.sequences = generate["sequences"]
        self.cache_precision = generate.get("cache_precision")
        self.greedy = generate.get("tokens") == "greedy"
        seed = assay_graph.data_seed(prepare)
        tokens = assay_llama.tokens_of(seed, self.sequences, self.prompt + self.output, vocabulary)
        self.prompts, self.answers = tokens[:, : self.prompt], tokens[:, self.prompt :]


class Answers:
    """Steps of an engine: clear, read the prompts, write the answers."""

    def __init__(self, engine, asked):
        self._engine, self._asked = engine, asked
        self._columns = [asked.answers[:, i].copy() for i in range(asked.output)]
        self._times = []  # of the steps since take_tokens()

    def step(self):
        engine, asked, clock = self._engine, self._asked, time.monotonic_ns
        times = [0] * asked.output
        begin = clock()
        engine.clear()
        engine.prefill(asked.prompts)
        token = engine.greedy() if asked.greedy else self._columns[0]
        times[0] = clock() - begin
        for i in range(1, asked.output):
            engine.decode(token, asked.prompt + i - 1)
            token = engine.greedy() if asked.greedy else self._columns[i]
            times[i] = clock() - begin
        self._times.append(times)

    def take_tokens(self):
        """All sequences have their tokens at once."""
        taken, self._times = self._times, []
        return [times * self._asked.sequences for times in taken]

    def evaluate(self, path):
        """Writes `logits`, (sequences, output, vocabulary): what the engine says before each forced token."""
        import numpy

        engine, asked = self._engine, self._asked
        logits = numpy.empty((asked.sequences, asked.output, engine.vocabulary), "f4")
        engine.clear()
        engine.prefill(asked.prompts)
        logits[:, 0] = engine.logits()
        for i in range(1, asked.output):
            engine.decode(self._columns[i - 1], asked.prompt + i - 1)
            logits[:, i] = engine.logits()
        assay_graph.write_values(path, {"logits": logits})


def refuse_early(prepare):
    """What no engine here does."""
    if prepare.workload.get("mode") != "generate" or not prepare.workload.get("generate"):
        raise assay_worker.Refused("mode %s: this worker generates text." % prepare.workload.get("mode"))
    if prepare.ranks > 1:
        raise assay_worker.Refused("%d ranks: this worker generates alone." % prepare.ranks)


def check_context(asked, most):
    """A model has been made for so many tokens and no more."""
    if most and asked.prompt + asked.output > most:
        message = "prompt_tokens %d and output_tokens %d: the model has a context of %d."
        raise assay_worker.Refused(message % (asked.prompt, asked.output, most))
