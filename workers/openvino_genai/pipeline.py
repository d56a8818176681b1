"""GenAI's own generate(): greedy answers, with the times of tokens that its perf_metrics keep."""

import time

import numpy


class Answers:
    """Its steps have the form of assay_generate.Answers."""

    def __init__(self, openvino, genai, folder, asked, properties):
        self._pipeline = genai.LLMPipeline(folder, "CPU", **properties)
        config = genai.GenerationConfig()
        config.max_new_tokens = config.min_new_tokens = asked.output
        config.ignore_eos, config.do_sample, config.apply_chat_template = True, False, False
        tokens = asked.prompts.astype("i8")
        self._inputs = genai.TokenizedInputs(openvino.Tensor(tokens), openvino.Tensor(numpy.ones_like(tokens)))
        self._config, self._asked, self._times = config, asked, []

    def step(self):
        begin = time.monotonic_ns()
        result = self._pipeline.generate(self._inputs, self._config)
        # Milliseconds of the steady clock, which is CLOCK_MONOTONIC, one for each token of all sequences at once.
        times = [round(at * 1e6) - begin for at in result.perf_metrics.raw_metrics.m_new_token_times]
        counted = {len(tokens) for tokens in result.tokens}
        if counted != {self._asked.output} or len(times) != self._asked.output:
            message = "GenAI counted %s tokens and has times of %d where %d were asked for"
            raise RuntimeError(message % (sorted(counted), len(times), self._asked.output))
        self._times.append(times)

    def take_tokens(self):
        taken, self._times = self._times, []
        return [times * self._asked.sequences for times in taken]
