"""Assay's worker for OpenVINO GenAI. README.md says what it measures, workers/PROTOCOL.md how it is spoken to."""

import importlib.metadata
import os
import platform
import sys

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "common"))
import assay_generate
import assay_gguf
import assay_llama
import assay_worker

PRECISIONS = ("file", "fp16", "q8_0", "q4_0")
UNREAD = ("F32", "BF16")  # kinds of weights that GenAI's reader of GGUF does not take


class OpenVinoGenAi(assay_worker.Framework):
    def prepare(self, prepare):
        assay_generate.refuse_early(prepare)
        prepare.refuse_settings_beyond({"intra_op"})
        precision, generate = prepare.workload.get("precision"), prepare.workload["generate"]
        if precision not in PRECISIONS:
            raise assay_worker.Refused("precision '%s': there is %s." % (precision, ", ".join(PRECISIONS)))
        os.environ.setdefault("OPENVINO_TELEMETRY_DISABLE", "1")
        import effective
        import graph
        import openvino
        import openvino_genai

        cache = generate.get("cache_precision")
        if cache is not None and cache not in graph.CACHE_KINDS:
            raise assay_worker.Refused("cache_precision '%s': there is %s." % (cache, ", ".join(graph.CACHE_KINDS)))
        properties = {"INFERENCE_PRECISION_HINT": "f32"}
        if cache is not None:
            properties["KV_CACHE_PRECISION"] = graph.CACHE_KINDS[cache]
        if prepare.settings.get("intra_op") is not None:
            properties["INFERENCE_NUM_THREADS"] = prepare.settings["intra_op"]
        path = assay_llama.file_of(prepare)
        try:
            model = assay_gguf.read(path)
        except ValueError as error:
            raise assay_worker.Refused("%s." % error) from None
        if model.kinds()[0] in UNREAD:
            raise assay_worker.Refused("%s: GenAI does not read weights of kind %s." % (path, model.kinds()[0]))
        most = model.metadata.get("llama.context_length")
        asked = assay_generate.Asked(prepare, len(model.metadata["tokenizer.ggml.tokens"]))
        assay_generate.check_context(asked, most)
        key = prepare.file["hash"] if prepare.file else os.path.basename(path)
        release = importlib.metadata.version("openvino-genai")
        folder, self._place = graph.made(openvino_genai, path, prepare.cache, "%s %s" % (release, key))

        def made_engine():
            return graph.Engine(openvino, folder, model.metadata, asked.sequences, properties)

        if asked.greedy:
            import pipeline

            as_set = effective.read_elsewhere(folder, properties)
            self._answers = pipeline.Answers(openvino, openvino_genai, folder, asked, properties)
            self._forced = lambda: assay_generate.Answers(made_engine(), asked)
        else:
            engine = made_engine()
            as_set = effective.read(engine.compiled)
            self._answers = assay_generate.Answers(engine, asked)
            self._forced = lambda: self._answers
        context = asked.prompt + asked.output
        return assay_worker.Prepared(
            versions={
                "openvino-genai": release,
                "openvino": openvino.get_version(),
                "python": platform.python_version(),
            },
            parameters=model.parameters(),
            effective={**as_set, "file_kind": model.kinds()[0]},
            weights_bytes=graph.weights_bytes(folder),
            cache_bytes=graph.cache_bytes(model.metadata, asked.sequences, context, as_set["cache"]),
        )

    def step(self):
        self._answers.step()

    def take_tokens(self):
        return self._answers.take_tokens()

    def evaluate(self, evaluate):
        self._forced().evaluate(evaluate.output)


if __name__ == "__main__":
    sys.exit(assay_worker.serve(OpenVinoGenAi))
