"""Assay's worker for ONNX Runtime GenAI. README.md says what it measures, workers/PROTOCOL.md how it is spoken to."""

import importlib.metadata
import os
import platform
import sys

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "common"))
import assay_generate
import assay_gguf
import assay_hf_folder
import assay_llama
import assay_worker

PRECISIONS = ("file", "fp32", "int4")


def file_of(prepare):
    """The weights that the graph is made from: a shape in int4 is quantised from fp32."""
    if prepare.file is None and prepare.workload.get("precision") == "int4":
        prepare.workload = {**prepare.workload, "precision": "fp32"}
    return assay_llama.file_of(prepare)


class OnnxRuntimeGenAi(assay_worker.Framework):
    def prepare(self, prepare):
        assay_generate.refuse_early(prepare)
        prepare.refuse_settings_beyond({"intra_op"})
        precision, generate = prepare.workload.get("precision"), prepare.workload["generate"]
        if precision not in PRECISIONS:
            raise assay_worker.Refused("precision '%s': there is %s." % (precision, ", ".join(PRECISIONS)))
        cache = generate.get("cache_precision")
        if cache not in (None, "fp32"):
            raise assay_worker.Refused("cache_precision '%s': keys and values are in fp32." % cache)
        path = file_of(prepare)
        try:
            model = assay_gguf.read(path)
            kind = model.kinds()[0]
            if kind not in assay_hf_folder.KINDS:
                known = ", ".join(assay_hf_folder.KINDS)
                raise ValueError("%s: weights of kind %s; GenAI's builder is given %s" % (path, kind, known))
            config = assay_hf_folder.config_of(model)
        except ValueError as error:
            raise assay_worker.Refused("%s." % error) from None
        asked = assay_generate.Asked(prepare, config["vocab_size"])
        assay_generate.check_context(asked, config["max_position_embeddings"])
        import engine
        import graph
        import onnxruntime_genai

        onnxruntime_genai.disable_telemetry_events()
        release = importlib.metadata.version("onnxruntime-genai")
        key = "%s %s" % (release, prepare.file["hash"] if prepare.file else os.path.basename(path))
        weights = "int4" if precision == "int4" else "fp32"
        folder, self._place = graph.made(model, weights, prepare.cache, key)
        context = asked.prompt + asked.output
        made = engine.Engine(onnxruntime_genai, folder, asked.sequences, context, prepare.settings.get("intra_op"))
        self._answers = assay_generate.Answers(made, asked)
        made.clear()
        made.prefill(asked.prompts)
        cache_bytes, cache_kind = made.cache()
        return assay_worker.Prepared(
            versions={
                "onnxruntime-genai": release,
                "onnxruntime": importlib.metadata.version("onnxruntime"),
                "python": platform.python_version(),
            },
            parameters=model.parameters(),
            effective={**made.effective(), "weights": weights, "cache": cache_kind, "file_kind": kind},
            weights_bytes=os.path.getsize(os.path.join(folder, graph.WEIGHTS)),
            cache_bytes=cache_bytes,
        )

    def step(self):
        self._answers.step()

    def take_tokens(self):
        return self._answers.take_tokens()

    def evaluate(self, evaluate):
        self._answers.evaluate(evaluate.output)


if __name__ == "__main__":
    sys.exit(assay_worker.serve(OnnxRuntimeGenAi))
