"""vLLM's own engine in this process, its scheduler included: one call of step() computes what the scheduler chose, and
returns the tokens that came of it."""

import os
import time

import numpy

# Read by vLLM when it is imported. Nothing is fetched, reported or kept between processes, and threads are not bound:
# that is for the launcher.
VARIABLES = {
    "HF_HUB_OFFLINE": "1",
    "TRANSFORMERS_OFFLINE": "1",
    "VLLM_NO_USAGE_STATS": "1",
    "DO_NOT_TRACK": "1",
    "VLLM_HOST_IP": "127.0.0.1",
    "GLOO_SOCKET_IFNAME": "lo",
    "VLLM_ENABLE_V1_MULTIPROCESSING": "0",
    "VLLM_USE_V2_MODEL_RUNNER": "0",
    "VLLM_CPU_OMP_THREADS_BIND": "nobind",
    "VLLM_LOGGING_LEVEL": "ERROR",
}
BLOCK = 32  # places of the cache that vLLM gives out at once; its kernels want a multiple of this
_SIZES = {"float32": 4, "float16": 2, "bfloat16": 2}


class _Said:
    """What an evaluation keeps: logits by (sequence, place in its answer)."""

    logits = None


def _forced_tokens():
    """The processor that leaves each sequence its forced token alone. vLLM hands it the logits of every step, before
    anything is chosen."""
    from vllm.v1.sample.logits_processor import LogitsProcessor
    from vllm.v1.sample.logits_processor.builtin import process_dict_updates

    class ForcedTokens(LogitsProcessor):
        def __init__(self, vllm_config, device, is_pin_memory):
            self._rows = {}  # of the batch: what is asked of the sequence, and what it has written so far

        def is_argmax_invariant(self):
            return False

        def update_state(self, batch_update):
            process_dict_updates(self._rows, batch_update, lambda params, _, written: (params.extra_args, written))

        def apply(self, logits):
            for row, (asked, written) in self._rows.items():
                if not asked:
                    continue
                place = len(written)
                if _Said.logits is not None:
                    _Said.logits[asked["sequence"], place] = logits[row].numpy().copy()
                token = asked["forced"][place]
                logits[row].fill_(float("-inf"))
                logits[row, token] = 0
            return logits

    return ForcedTokens


def import_vllm(threads):
    """Before anything of it, or of torch, is imported."""
    os.environ.update(VARIABLES)
    if threads is not None:
        os.environ["OMP_NUM_THREADS"] = os.environ["MKL_NUM_THREADS"] = str(threads)
    import vllm
    from vllm.model_executor.models.llama import LlamaForCausalLM
    from vllm.model_executor.models.registry import ModelRegistry

    # By its class: by its name vLLM would start another process to look at it.
    ModelRegistry.register_model("LlamaForCausalLM", LlamaForCausalLM)
    return vllm


class Engine:
    """For `sequences` of at most `context` tokens; `batch_tokens` is the most that one step computes."""

    def __init__(self, vllm, folder, config, dtype, sequences, context, batch_tokens):
        import torch

        self._torch, self._params = torch, vllm.SamplingParams
        features = config["head_dim"] * config["num_key_value_heads"]
        block_bytes = 2 * config["num_hidden_layers"] * features * BLOCK * _SIZES[dtype]
        blocks = sequences * (-(-context // BLOCK)) + 1  # vLLM keeps the first for itself
        arguments = vllm.EngineArgs(
            model=folder,
            skip_tokenizer_init=True,
            dtype=dtype,
            max_model_len=context,
            max_num_seqs=sequences,
            max_num_batched_tokens=batch_tokens,
            enable_chunked_prefill=True,
            enable_prefix_caching=False,
            async_scheduling=False,
            block_size=BLOCK,
            kv_cache_memory_bytes=blocks * block_bytes,
            enforce_eager=True,
            disable_log_stats=True,
            seed=0,
            logits_processors=[_forced_tokens()],
        )
        self._engine = vllm.LLMEngine.from_engine_args(arguments)
        self._runner = self._engine.model_executor.driver_worker.worker.model_runner
        self._answers = 0

    def counts(self):
        """Parameters and bytes of the model as it was built, by its layers: of a matrix that vLLM has packed for its
        kernels nothing is left but its size."""
        parameters = size = 0
        for module in self._runner.model.modules():
            if hasattr(module, "input_size_per_partition") and hasattr(module, "output_size_per_partition"):
                count = module.input_size_per_partition * module.output_size_per_partition
            elif hasattr(module, "org_vocab_size") and hasattr(module, "embedding_dim"):
                count = module.org_vocab_size * module.embedding_dim
            else:
                count = sum(one.numel() for one in module.parameters(recurse=False))
            parameters += count
            size += count * _SIZES[self.dtype()]
        return parameters, size

    def dtype(self):
        return str(self._engine.vllm_config.model_config.dtype).removeprefix("torch.")

    def cache_bytes(self):
        return sum(one.numel() * one.element_size() for one in self._runner.kv_caches)

    def effective(self):
        """Read back from vLLM's configuration after it has checked and changed it, and from torch."""
        config = self._engine.vllm_config
        cache, scheduler = config.cache_config, config.scheduler_config
        return {
            "intra_op": self._torch.get_num_threads(),
            "prefill_tokens": scheduler.max_num_batched_tokens,
            "sequences": scheduler.max_num_seqs,
            "context_tokens": config.model_config.max_model_len,
            "weights": self.dtype(),
            "cache": str(self._runner.kv_caches[0].dtype).removeprefix("torch."),
            "cache_block_tokens": cache.block_size,
            "prefix_caching": "on" if cache.enable_prefix_caching else "off",
            "speculative_decoding": "off" if config.speculative_config is None else "on",
            "asynchronous_scheduling": "on" if scheduler.async_scheduling else "off",
            "eager": "on" if config.model_config.enforce_eager else "off",
        }

    def answer(self, prompts, forced, count):
        """One answer for each prompt, of `count` tokens: those of `forced`, or the most probable ones where it is None.
        Returns the tokens, and when each was there in nanoseconds since the beginning."""
        engine, clock = self._engine, time.monotonic_ns
        self._answers += 1
        tokens, times = [[] for _ in prompts], [[] for _ in prompts]
        names = {"%d-%d" % (self._answers, i): i for i in range(len(prompts))}
        from vllm.sampling_params import RequestOutputKind

        begin = clock()
        for name, i in names.items():
            asked = {"sequence": i, "forced": forced[i]} if forced is not None else None
            params = self._params(max_tokens=count, temperature=0.0, ignore_eos=True, detokenize=False)
            params.extra_args, params.output_kind = asked, RequestOutputKind.DELTA
            engine.add_request(name, {"prompt_token_ids": prompts[i]}, params)
        while engine.has_unfinished_requests():
            outputs = engine.step()
            now = clock() - begin
            for output in outputs:
                i = names[output.request_id]
                written = output.outputs[0].token_ids
                tokens[i] += written
                times[i] += [now] * len(written)
        return tokens, times


class Answers:
    """Steps of the engine, in the form of assay_generate.Answers."""

    def __init__(self, engine, asked, vocabulary):
        self._engine, self._asked, self._vocabulary = engine, asked, vocabulary
        self._prompts, self._forced = asked.prompts.tolist(), asked.answers.tolist()
        self._times = []

    def step(self):
        asked = self._asked
        forced = None if asked.greedy else self._forced
        tokens, times = self._engine.answer(self._prompts, forced, asked.output)
        counted = {len(one) for one in tokens}
        if counted != {asked.output}:
            raise RuntimeError("vLLM counted %s tokens where %d were asked for" % (sorted(counted), asked.output))
        if forced is not None and tokens != forced:
            raise RuntimeError("vLLM wrote other tokens than those that it was given")
        self._times.append([at for one in times for at in one])

    def take_tokens(self):
        taken, self._times = self._times, []
        return taken

    def evaluate(self, path):
        """Writes `logits`, (sequences, output, vocabulary): what vLLM computed before each forced token."""
        import assay_graph

        asked = self._asked
        _Said.logits = {}
        try:
            self._engine.answer(self._prompts, self._forced, asked.output)
            logits = numpy.empty((asked.sequences, asked.output, self._vocabulary), "f4")
            for (sequence, place), values in _Said.logits.items():
                logits[sequence, place] = values[: self._vocabulary]
            if len(_Said.logits) != asked.sequences * asked.output:
                raise RuntimeError("vLLM computed logits of %d places" % len(_Said.logits))
        finally:
            _Said.logits = None
        assay_graph.write_values(path, {"logits": logits})
