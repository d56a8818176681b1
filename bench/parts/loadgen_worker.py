"""MLPerf's LoadGen before the worker for ONNX Runtime: the class that Assay's worker is, without Assay around it.

usage: loadgen_worker.py FOLDER_OF_WORKER FOLDER_OF_LOGS < question.json

The question has `prepare`, as a worker is sent it, `scenario`, `seconds`, `seed` and, for a server, `rate`. Samples
wait in one queue; a step takes as many as fit the batch, and one with fewer is filled up. Prints LoadGen's own summary
as JSON.
"""

import json
import os
import queue
import sys
import threading
import time

answers = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)
question = json.load(sys.stdin)
folder, logs = sys.argv[1:3]
sys.path[:0] = [folder, os.path.join(folder, "..", "common")]

import assay_worker  # noqa: E402
import mlperf_loadgen  # noqa: E402
import worker  # noqa: E402

KINDS = {"single-stream": "SingleStream", "multi-stream": "MultiStream", "server": "Server", "offline": "Offline"}
WARM_UP_SECONDS = 0.5
MOST_QUERIES = 10_000
SAMPLES = 64  # that LoadGen knows of: all are the same tensor here


class Queue:
    """What waits for the worker, and the thread that serves it."""

    def __init__(self, framework, batch):
        self._framework, self._batch = framework, batch
        self._waiting = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._serve)
        self._thread.start()

    def issue(self, samples):
        for sample in samples:
            self._waiting.put(sample.id)

    def end(self):
        self._waiting.put(None)
        self._thread.join()

    def _serve(self):
        while (first := self._waiting.get()) is not None:
            ids = [first]
            while len(ids) < self._batch and not self._waiting.empty():
                ids.append(self._waiting.get())
            self._framework.step()
            complete([i for i in ids if i is not None])
            if None in ids:
                return


def complete(ids):
    mlperf_loadgen.QuerySamplesComplete([mlperf_loadgen.QuerySampleResponse(one, 0, 0) for one in ids])


def in_turn(framework, batch):
    """Serves a query in the thread that issues it: the next one comes when this has ended."""

    def issue(samples):
        for _ in range(0, len(samples), batch):
            framework.step()
        complete([sample.id for sample in samples])

    return issue


def settings_of(kind, seconds, rate, step_seconds, batch, seed):
    settings = mlperf_loadgen.TestSettings()
    settings.scenario = getattr(mlperf_loadgen.TestScenario, KINDS[kind])
    settings.mode = mlperf_loadgen.TestMode.PerformanceOnly
    settings.min_duration_ms = round(1000 * seconds)
    settings.min_query_count = 1
    settings.max_query_count = MOST_QUERIES
    settings.multi_stream_samples_per_query = 8
    settings.schedule_rng_seed = seed
    if kind == "server":
        settings.server_target_qps = rate
        settings.server_target_latency_ns = 10**10
        settings.min_query_count = settings.max_query_count = round(rate * seconds)
        settings.min_duration_ms = 0
    if kind == "offline":
        settings.offline_expected_qps = batch / step_seconds
    return settings


def summary_of(folder):
    """Lines `name : value` of LoadGen's summary, numbers as numbers."""
    found = {}
    with open(os.path.join(folder, "mlperf_log_summary.txt"), encoding="utf-8") as file:
        for line in file:
            name, colon, value = line.partition(":")
            if colon:
                try:
                    found[name.strip()] = float(value)
                except ValueError:
                    found[name.strip()] = value.strip()
    return found


def main():
    kind, batch = question["scenario"], question["prepare"]["workload"]["batch"]
    framework = worker.OnnxRuntime()
    framework.prepare(assay_worker.Prepare(question["prepare"]))
    begin, steps = time.monotonic(), 0
    while time.monotonic() - begin < WARM_UP_SECONDS:
        framework.step()
        steps += 1
    step_seconds = (time.monotonic() - begin) / steps
    waiting = Queue(framework, batch) if kind in ("server", "offline") else None
    issue = waiting.issue if waiting else in_turn(framework, batch)
    sut = mlperf_loadgen.ConstructSUT(issue, lambda: None)
    qsl = mlperf_loadgen.ConstructQSL(SAMPLES, SAMPLES, lambda _: None, lambda _: None)
    log = mlperf_loadgen.LogSettings()
    log.log_output.outdir = logs
    settings = settings_of(kind, question["seconds"], question.get("rate"), step_seconds, batch, question["seed"])
    mlperf_loadgen.StartTestWithLogSettings(sut, qsl, settings, log, "")
    mlperf_loadgen.DestroyQSL(qsl)
    mlperf_loadgen.DestroySUT(sut)
    if waiting:
        waiting.end()
    print(json.dumps(summary_of(logs)), file=answers)


main()
