"""OpenVINO GenAI's generate() in a loop without Assay, timed by its own perf_metrics: for bench/generate_overhead.

bare_genai.py FOLDER_OF_THE_WORKER MODEL.gguf PROMPT OUTPUT THREADS

GenAI reads the file itself. Of the worker's files only those that say what the vocabulary and the prompt are.
"""

import json
import os
import sys


def main():
    folder, path, *numbers = sys.argv[1:]
    prompt, output, threads = map(int, numbers)
    os.environ.setdefault("OPENVINO_TELEMETRY_DISABLE", "1")
    sys.path.append(os.path.join(folder, "..", "common"))
    import assay_gguf
    import assay_llama
    import numpy
    import openvino
    import openvino_genai

    vocabulary = len(assay_gguf.read(path).metadata["tokenizer.ggml.tokens"])
    tokens = assay_llama.tokens_of(1, 1, prompt, vocabulary).astype("i8")
    pipeline = openvino_genai.LLMPipeline(path, "CPU", INFERENCE_PRECISION_HINT="f32", INFERENCE_NUM_THREADS=threads)
    config = openvino_genai.GenerationConfig()
    config.max_new_tokens = config.min_new_tokens = output
    config.ignore_eos, config.do_sample, config.apply_chat_template = True, False, False
    inputs = openvino_genai.TokenizedInputs(openvino.Tensor(tokens), openvino.Tensor(numpy.ones_like(tokens)))
    print(json.dumps({"ready": True}), flush=True)
    for _ in sys.stdin:
        metrics = pipeline.generate(inputs, config).perf_metrics
        counted = metrics.get_num_generated_tokens()
        if counted != output:
            sys.exit("GenAI counted %d tokens where %d were asked for" % (counted, output))
        first, each = metrics.get_ttft().mean * 1e6, metrics.get_tpot().mean * 1e6
        print(json.dumps({"first": [first], "each": [each]}), flush=True)


if __name__ == "__main__":
    main()
