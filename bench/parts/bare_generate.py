"""llama.cpp in a loop without Assay, timed by its own counters (llama_perf_context): for bench/generate_overhead.

bare_generate.py FOLDER_OF_THE_WORKER MODEL.gguf PROMPT OUTPUT THREADS

It calls the library through the worker's own binding (llama.py): what is apart are the loop, the clock and the process.
"""

import ctypes
import json
import os
import sys

NO_PERF = 138  # place in llama_context_params; true by default


class Times(ctypes.Structure):
    _fields_ = [(name, ctypes.c_double) for name in ("start", "load", "prompt", "token")] + [
        (name, ctypes.c_int32) for name in ("prompts", "tokens", "reused")
    ]


def main():
    folder, path, *numbers = sys.argv[1:]
    prompt, output, threads = map(int, numbers)
    sys.path[:0] = [folder, os.path.join(folder, "..", "common")]
    import assay_llama
    import llama

    original = llama.load

    def timed():
        """With the counters of llama.cpp switched on."""
        library = original()
        plain = library.llama_context_default_params

        def with_counters():
            parameters = plain()
            parameters.bytes[NO_PERF] = 0
            return parameters

        library.llama_context_default_params = with_counters
        return library

    llama.load = timed
    engine = llama.Engine(path, 1, prompt + output, prompt, None, threads, None, None)
    library, context = engine._library, engine._context
    library.llama_perf_context.restype, library.llama_perf_context.argtypes = Times, [ctypes.c_void_p]
    library.llama_perf_context_reset.argtypes = [ctypes.c_void_p]
    tokens = assay_llama.tokens_of(1, 1, prompt + output, engine.vocabulary)
    print(json.dumps({"ready": True}), flush=True)
    for line in sys.stdin:
        first, each = [], []
        for _ in range(int(line)):
            library.llama_perf_context_reset(context)
            engine.clear()
            engine.prefill(tokens[:, :prompt])
            for i in range(1, output):
                engine.decode(tokens[:, prompt + i - 1], prompt + i - 1)
            times = library.llama_perf_context(context)
            if times.tokens != output - 1 or times.prompts != prompt:
                sys.exit("llama.cpp counted %d tokens of the prompt and %d after it" % (times.prompts, times.tokens))
            first.append(times.prompt * 1e6)
            each.append(times.token * 1e6 / times.tokens)
        print(json.dumps({"first": first, "each": each}), flush=True)


if __name__ == "__main__":
    main()
