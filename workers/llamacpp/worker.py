"""Assay's worker for llama.cpp. README.md says what it measures, workers/PROTOCOL.md how it is spoken to."""

import importlib.metadata
import os
import platform
import sys

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "common"))
import assay_generate
import assay_llama
import assay_worker

PRODUCT = "gemm"
SETTINGS = {"intra_op", "prefill_threads", "prefill_tokens"}


class LlamaCpp(assay_worker.Framework):
    def prepare(self, prepare):
        return self._product(prepare) if prepare.workload["network"] == PRODUCT else self._answers(prepare)

    def _product(self, prepare):
        prepare.refuse_settings_beyond({"intra_op"})
        import product

        precision, known = prepare.workload["precision"], assay_llama.PRECISIONS
        if precision not in known:
            raise assay_worker.Refused("precision '%s' of %s: there is %s." % (precision, PRODUCT, ", ".join(known)))
        threads = prepare.settings.get("intra_op") or len(os.sched_getaffinity(0))
        self._work = product.Product(prepare, threads)
        return assay_worker.Prepared(versions=_versions(), effective={"intra_op": threads})

    def _answers(self, prepare):
        assay_generate.refuse_early(prepare)
        prepare.refuse_settings_beyond(SETTINGS)
        if prepare.file is not None and prepare.workload.get("precision") != "file":
            message = "precision '%s' of a file: llama.cpp takes weights as the file has them. Leave it out."
            raise assay_worker.Refused(message % prepare.workload.get("precision"))
        import llama

        generate, settings = prepare.workload["generate"], prepare.settings
        cache = generate.get("cache_precision")
        if cache is not None and cache not in llama.CACHE_KINDS:
            known = ", ".join(llama.CACHE_KINDS)
            raise assay_worker.Refused("cache_precision '%s': there is %s." % (cache, known))
        self._engine = engine = llama.Engine(
            assay_llama.file_of(prepare),
            generate["sequences"],
            generate["prompt_tokens"] + generate["output_tokens"],
            generate["sequences"] * generate["prompt_tokens"],
            cache,
            settings.get("intra_op"),
            settings.get("prefill_threads"),
            settings.get("prefill_tokens"),
        )
        asked = assay_generate.Asked(prepare, engine.vocabulary)
        assay_generate.check_context(asked, engine.most_context())
        self._work = assay_generate.Answers(engine, asked)
        return assay_worker.Prepared(
            versions=_versions(),
            parameters=engine.parameters(),
            effective=engine.effective(),
            weights_bytes=engine.weights_bytes(),
            cache_bytes=engine.cache_bytes(),
        )

    def step(self):
        self._work.step()

    def take_tokens(self):
        return self._work.take_tokens()

    def evaluate(self, evaluate):
        self._work.evaluate(evaluate.output)


def _versions():
    return {"xllamacpp": importlib.metadata.version("xllamacpp"), "python": platform.python_version()}


if __name__ == "__main__":
    sys.exit(assay_worker.serve(LlamaCpp))
