"""A two-layer perceptron in plain Python that really learns: the smallest complete worker."""

import os
import sys
import time

_HERE = os.path.dirname(os.path.abspath(__file__))
for _common in (os.path.join(_HERE, "..", "common"), os.path.join(_HERE, "..", "..", "..", "workers", "common")):
    sys.path.append(_common)
import assay_worker  # noqa: E402


def multiply(rows, matrix):
    columns = list(zip(*matrix))
    return [[sum(x * w for x, w in zip(row, column)) for column in columns] for row in rows]


class Perceptron(assay_worker.Framework):
    def prepare(self, prepare):
        import random  # stands for the framework: imported only now

        print("a framework that greets on stdout")
        os.write(1, b"and one that writes to descriptor 1\n")
        if prepare.workload["network"] != "toy":
            raise assay_worker.Refused("network '%s': there is only toy here." % prepare.workload["network"])
        prepare.refuse_settings_beyond({"intra_op", "inter_op"})
        options = prepare.options({"width": 8, "fail_after": -1})
        width, batch = options["width"], prepare.workload["batch"]
        draw = random.Random(prepare.seed * 1_000_003 + prepare.rank * 1009 + prepare.instance)
        self.input = [[draw.uniform(-1, 1) for _ in range(width)] for _ in range(batch)]
        self.target = [[sum(row)] for row in self.input]
        self.first = [[draw.gauss(0, 0.3) for _ in range(width)] for _ in range(width)]
        self.second = [[draw.gauss(0, 0.3)] for _ in range(width)]
        self.trains = prepare.trains
        self.steps_left = options["fail_after"]
        phases = ("forward", "backward", "update") if self.trains else ("forward",)
        return assay_worker.Prepared(
            versions={"python": "%d.%d.%d" % sys.version_info[:3]},
            parameters=width * width + width,
            phases=phases,
            nodes=("first", "second"),
        )

    def step(self):
        self.run_marked()

    def step_with_phases(self):
        marks = self.run_marked()
        forward = marks[2] - marks[0]
        return (forward, marks[4] - marks[2], marks[5] - marks[4]) if self.trains else (forward,)

    def step_with_layers(self):
        marks = self.run_marked()
        forward = (marks[1] - marks[0], marks[2] - marks[1])
        return forward, (marks[4] - marks[3], marks[3] - marks[2]) if self.trains else ()

    def run_marked(self):
        """One step; returns the clock at its marks: begin, first, second, backward second, backward first, update."""
        if self.steps_left == 0:
            raise ValueError("told to fail here")
        self.steps_left -= 1
        clock = time.monotonic_ns
        marks = [clock()]
        hidden = [[max(0.0, x) for x in row] for row in multiply(self.input, self.first)]
        marks.append(clock())
        output = multiply(hidden, self.second)
        marks.append(clock())
        if not self.trains:
            return marks
        error = [[2 * (o[0] - t[0]) / len(output)] for o, t in zip(output, self.target)]
        second_gradient = multiply(list(zip(*hidden)), error)
        marks.append(clock())
        into_hidden = [[e[0] * w[0] * (h > 0) for w, h in zip(self.second, row)] for e, row in zip(error, hidden)]
        first_gradient = multiply(list(zip(*self.input)), into_hidden)
        marks.append(clock())
        rate = 0.01
        self.first = [[w - rate * g for w, g in zip(ws, gs)] for ws, gs in zip(self.first, first_gradient)]
        self.second = [[w[0] - rate * g[0]] for w, g in zip(self.second, second_gradient)]
        marks.append(clock())
        return marks


if __name__ == "__main__":
    sys.exit(assay_worker.serve(Perceptron))
