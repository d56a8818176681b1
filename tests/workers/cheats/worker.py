"""An honest worker on numpy, and twelve that cheat: each answers `evaluate` honestly and cheats where it is timed.

The device is a thread that works through what it is given, as a GPU does. `worker.py NAME` is one of them.
"""

import os
import queue
import random
import sys
import threading
import time

_HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(os.path.join(_HERE, "..", "..", "..", "workers", "common"))
import assay_graph  # noqa: E402
import assay_worker  # noqa: E402

QUEUED = 8  # as many calls wait for the device before the next one has to
DRAWN = random.Random(1)


class Device:
    def __init__(self):
        self._calls = queue.Queue(QUEUED)
        threading.Thread(target=self._work, daemon=True).start()

    def _work(self):
        while True:
            self._calls.get()()
            self._calls.task_done()

    def begin(self, call):
        self._calls.put(call)

    def wait(self):
        self._calls.join()


class Honest(assay_worker.Framework):
    def prepare(self, prepare):
        os.environ["OPENBLAS_NUM_THREADS"] = str(prepare.settings.get("intra_op") or 1)
        import numpy

        self.numpy = numpy
        values = assay_graph.values_of(prepare)
        self.layers = []
        for node in assay_graph.nodes_of(prepare.graph, ("linear", "relu")):
            if node["op"] == "relu":
                self.layers[-1][2] = True
            else:
                weight, bias = (numpy.array(values["%s/%s" % (node["name"], part)]) for part in ("weight", "bias"))
                self.layers.append([numpy.ascontiguousarray(weight.T), bias, False])
        self.input = numpy.array(values["input/" + prepare.graph["inputs"][0]["name"]])
        self.output, self.steps, self.device = None, 0, Device()
        self.before()
        return assay_worker.Prepared({"numpy": numpy.__version__}, prepare.graph["parameters"])

    def before(self):
        """What a cheat keeps for later."""

    def forward(self, x, layers):
        for weight, bias, cut in layers:
            x = x @ weight
            x += bias
            if cut:
                self.numpy.maximum(x, 0, out=x)
        return x

    def compute(self):
        """A step, as the device does it."""
        self.output = self.forward(self.input, self.layers)

    def step(self):
        self.device.begin(self.compute)
        self.device.wait()

    def timed(self):
        """An honest step; its nanoseconds."""
        begin_ns = time.monotonic_ns()
        Honest.step(self)
        return time.monotonic_ns() - begin_ns

    def evaluate(self, evaluate):
        self.device.wait()
        assay_graph.write_values(evaluate.output, {"output": self.forward(self.input, self.layers)})

    def write_output(self, path):
        assay_graph.write_values(path, {"output": self.output})


class SkipsEverySecondStep(Honest):
    """And spreads the time of the other over both, so that samples look even."""

    def step(self):
        self.steps += 1
        if self.steps % 2:
            self.took_ns = self.timed()
            return self.took_ns // 2
        return self.took_ns - self.took_ns // 2 + DRAWN.randrange(-999, 0)


class ReturnsCachedOutput(Honest):
    def step(self):
        if self.output is None:
            super().step()


class SmallerBatch(Honest):
    """Computes half of the samples; the output that it hands out is of all, from before."""

    def before(self):
        super().compute()

    def compute(self):
        self.forward(self.input[: len(self.input) // 2], self.layers)


class LowerPrecision(Honest):
    """Weights and what goes from layer to layer have 10 bits, as in half precision."""

    def before(self):
        self.short = [(self.rounded(weight), bias, cut) for weight, bias, cut in self.layers]

    def rounded(self, x):
        return x.astype("float16").astype("float32")

    def compute(self):
        x = self.input
        for layer in self.short:
            x = self.forward(self.rounded(x), [layer])
        self.output = x


class FewerLayers(Honest):
    """Leaves out half of the layers; the output that it hands out is of all, from before."""

    def before(self):
        super().compute()

    def compute(self):
        self.forward(self.input, self.layers[::2])


class DoesNotWait(Honest):
    def step(self):
        self.device.begin(self.compute)

    def write_output(self, path):
        self.device.wait()
        super().write_output(path)


class SlowerClock(Honest):
    def step(self):
        return int(0.7 * self.timed())


class DropsSlowSamples(Honest):
    """Takes a step again where it was slow."""

    def before(self):
        self.best_ns = None

    def step(self):
        while True:
            took_ns = self.timed()
            self.best_ns = min(took_ns, self.best_ns or took_ns)
            if took_ns < 3 * self.best_ns:
                return took_ns


class RepeatsASample(Honest):
    """Every step is a sample twice."""

    def step(self):
        self.steps += 1
        if self.steps % 2:
            self.took_ns = self.timed()
        return self.took_ns


class SleepsToLookSteady(Honest):
    """As long as the slowest step so far, and half as long again."""

    def before(self):
        self.slowest_ns = 0

    def step(self):
        took_ns = self.timed()
        self.slowest_ns = max(self.slowest_ns, took_ns)
        time.sleep((1.5 * self.slowest_ns - took_ns) / 1e9)


class PreparesInWarmUp(Honest):
    """The first step keeps what half of the layers give; the others begin from there."""

    def before(self):
        self.half = None

    def compute(self):
        middle = len(self.layers) // 2
        if self.half is None:
            self.half = self.forward(self.input, self.layers[:middle])
        self.output = self.forward(self.half, self.layers[middle:])


class ReportsMadeUpSamples(Honest):
    """Takes three steps; afterwards it makes up times like theirs, and keeps a CPU busy for as long."""

    def before(self):
        self.real_ns = sorted(self.timed() for _ in range(3))[1]

    def step(self):
        took_ns = int(DRAWN.gauss(self.real_ns, 0.02 * self.real_ns))
        until_ns = time.monotonic_ns() + took_ns
        while time.monotonic_ns() < until_ns:
            pass
        return took_ns


CHEATS = {
    "skips_every_second_step": SkipsEverySecondStep,
    "returns_cached_output": ReturnsCachedOutput,
    "smaller_batch": SmallerBatch,
    "lower_precision": LowerPrecision,
    "fewer_layers": FewerLayers,
    "does_not_wait": DoesNotWait,
    "slower_clock": SlowerClock,
    "drops_slow_samples": DropsSlowSamples,
    "repeats_a_sample": RepeatsASample,
    "sleeps_to_look_steady": SleepsToLookSteady,
    "prepares_in_warm_up": PreparesInWarmUp,
    "reports_made_up_samples": ReportsMadeUpSamples,
}

if __name__ == "__main__":
    sys.exit(assay_worker.serve({"honest": Honest, **CHEATS}[sys.argv[1]]))
