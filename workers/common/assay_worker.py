"""The loop of a Python worker: the protocol of workers/PROTOCOL.md, once.

A worker's author writes what the framework does; the loop reads commands, times the steps, keeps the limits and
answers. A whole worker:

    import os, sys
    sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "common"))
    import assay_worker

    class MyFramework(assay_worker.Framework):
        def prepare(self, prepare):
            threads = prepare.settings.get("intra_op")
            if threads is not None:
                os.environ["OMP_NUM_THREADS"] = str(threads)   # before the framework is imported
            import numpy                                        # here, never at the top of the file
            if prepare.workload["network"] != "gemm":
                raise assay_worker.Refused("network %r: there is only gemm" % prepare.workload["network"])
            size = prepare.options({"size": 512})["size"]       # an unknown option is refused by name
            random = numpy.random.default_rng(prepare.seed)
            self.a = random.random((size, size), dtype=numpy.float32)
            self.out = numpy.empty_like(self.a)
            self.matmul = numpy.matmul
            return assay_worker.Prepared(versions={"numpy": numpy.__version__}, parameters=0)

        def step(self):
            self.matmul(self.a, self.a, out=self.out)           # return when the device is idle

    if __name__ == "__main__":
        sys.exit(assay_worker.serve(MyFramework))

Standard library only; Python 3.9 or newer.
"""

import gc
import json
import os
import sys
import time
import traceback

PROTOCOL = 1
MOST_LINE_BYTES = 4 << 20
MOST_LAYER_SAMPLES = 50_000  # both lists of a node must fit on one line
_WANTED_LINE_BYTES = 1 << 20
_MOST_DIGITS = 20
_MOST_MESSAGE_BYTES = 16384
_LAUNCHED = {"instances", "affinity", "memory_bind", "allocator", "env"}  # applied by assay-rank for every worker


class Refused(Exception):
    """The worker cannot do this workload or setting; say which. Becomes an error of kind `refused`."""


class OutOfMemory(Exception):
    """Raise it where the framework has an error of its own for want of memory. MemoryError needs no help."""


class Prepare:
    """What is to be measured: the message `prepare`, its objects as plain dictionaries."""

    def __init__(self, message):
        self.workload = message["workload"]
        self.graph = message.get("graph")
        self.file = message.get("file")  # path, function and hash of a user's file, or None
        self.values = message.get("values")  # path of a file to take weights, inputs and targets from, or None
        self.settings = message.get("settings") or {}
        self.placement = message.get("placement") or {}
        self.seed = message.get("seed", 0)
        self.rank = message.get("rank", 0)
        self.ranks = message.get("ranks", 1)
        self.peers = message.get("peers") or []  # address:port of each rank, where there are several
        self.instance = message.get("instance", 0)
        self.instances = message.get("instances", 1)
        self.data_folder = message.get("data_folder")  # below which data sets lie, or None
        self.cache = message.get("cache")  # folder for what is costly to make from a graph, or None
        self.trains = self.workload.get("mode") == "train"

    def options(self, defaults):
        """The workload's options over `defaults`. An option without a default there is refused by name."""
        given = self.workload.get("options") or {}
        for name in given:
            if name not in defaults:
                known = ", ".join(sorted(defaults)) or "none"
                raise Refused("option '%s' is unknown here. There is %s." % (name, known))
        return {**defaults, **given}

    def refuse_settings_beyond(self, known):
        """Refuses a setting that is given but neither in `known` nor applied by assay-rank for every worker."""
        for name, value in self.settings.items():
            if value is not None and name not in known and name not in _LAUNCHED:
                raise Refused("setting %s has no effect here; leave it unset." % name)


class Prepared:
    """What stands ready: the message `prepared`, and what the loop must know of the framework."""

    def __init__(
        self,
        versions,
        parameters=None,
        effective=None,
        phases=(),
        nodes=(),
        refusals=None,
        weights_bytes=None,
        cache_bytes=None,
    ):
        self.versions = versions
        self.parameters = parameters
        self.effective = effective or {}  # settings read back from the framework
        self.phases = tuple(phases)  # into which step_with_phases() splits a step; empty: it cannot
        self.nodes = tuple(nodes)  # which step_with_layers() times; empty: it cannot
        self.weights_bytes = weights_bytes  # of the model as the engine holds it, where text is generated
        self.cache_bytes = cache_bytes  # of keys and values, for all sequences
        self.refusals = refusals or {}  # detail to the reason why a step cannot be split so


class Framework:
    """What a worker's author writes. Each step returns when the device is idle."""

    def prepare(self, prepare):
        """Imports the framework, builds the workload, returns a Prepared."""
        raise NotImplementedError

    def step(self):
        """One plain step. May return its own duration in nanoseconds; None takes the loop's."""
        raise NotImplementedError

    def step_with_phases(self):
        """One step; returns nanoseconds for each of Prepared.phases, in order."""
        raise Refused("detail phases: the step cannot be split here.")

    def step_with_layers(self):
        """One step; returns two lists with nanoseconds for each of Prepared.nodes: forward and backward, the latter
        empty when inferring."""
        raise Refused("detail layers: the step cannot be split here.")

    most_layer_steps = MOST_LAYER_SAMPLES  # with layers in one measure

    def begin_layers(self):
        """Before the first step with layers of a measure; not timed."""

    def end_layers(self, steps):
        """After the last one: what step_with_layers() returned for each, completed where it is only known now."""
        return steps

    def barrier(self):
        """Waits for the other ranks. Called only where there are several, before the first step of each measure."""
        raise Refused("%s: several ranks cannot work together here." % type(self).__name__)

    def take_buckets(self):
        """The exchange of gradients in the steps with phases since the last call: a list of (bytes, ns, hidden_ns), the
        latter two with a value for each step."""
        return []

    def take_tokens(self):
        """Where text is generated: for each step() since the last call when its tokens were there, in nanoseconds from
        its beginning; sequence after sequence."""
        return []

    def evaluate(self, evaluate):
        """What the network computes on Prepare.values. Inferring: writes evaluate.output, returns None. Training:
        returns (losses, gradient_norms) of evaluate.updates updates."""
        raise Refused("evaluate: this worker cannot.")

    def score(self):
        """Where digits are learnt, after each epoch and outside of what is timed: how many held-out samples are right,
        how many there are, and the losses of the steps since the last score, up to the first that is not finite."""
        raise Refused("score: this worker cannot learn.")

    def write_output(self, path):
        """Writes what the last step() computed, in the form of evaluate(), and computes nothing for it."""
        raise Refused("measure with output: this worker cannot.")


class Evaluate:
    """The message `evaluate`."""

    def __init__(self, message):
        self.output = message["output"]
        self.updates = message["updates"]
        self.learning_rate = message["learning_rate"]
        self.momentum = message["momentum"]


class _Channel:
    """The protocol on private descriptors: afterwards 0 reads nothing and 1 is stderr, whatever is printed."""

    def __init__(self):
        # os.dup gives descriptors that programs started later do not inherit.
        self._input = os.fdopen(os.dup(0), "rb")
        self._output = os.dup(1)
        nothing = os.open(os.devnull, os.O_RDWR)
        os.dup2(nothing, 0)
        try:
            os.dup2(2, 1)
        except OSError:  # stderr is closed: what is printed goes nowhere
            os.dup2(nothing, 1)
        os.close(nothing)
        os.register_at_fork(after_in_child=self._forget)

    def _forget(self):
        """A loader that a framework forks must not hold the pipes open."""
        self._input.close()
        os.close(self._output)

    def read(self):
        """The next command, or None at end of file."""
        line = self._input.readline(MOST_LINE_BYTES + 1)
        if not line.endswith(b"\n"):
            if len(line) > MOST_LINE_BYTES:
                raise ValueError("a command is longer than %d bytes" % MOST_LINE_BYTES)
            return None
        return json.loads(line.decode("utf-8"))

    def send(self, message):
        text = json.dumps(message, separators=(",", ":"), allow_nan=False).encode("utf-8") + b"\n"
        while text:
            text = text[os.write(self._output, text) :]


class _Session:
    def __init__(self, channel, framework):
        self._channel = channel
        self._framework = framework
        self._prepared = None
        self._asked = None

    def run(self):
        while True:
            command = self._channel.read()
            if command is None or command["type"] == "exit":
                return
            if command["type"] == "prepare":
                self._prepare(command)
            elif command["type"] == "measure":
                self._measure(command)
            elif command["type"] == "evaluate":
                self._evaluate(command)
            elif command["type"] == "score":
                self._score()
            else:
                raise ValueError("unknown command %r" % command["type"])

    def _prepare(self, command):
        if self._prepared is not None:
            raise ValueError("prepare came twice")
        if command["protocol"] != PROTOCOL:
            raise Refused("protocol %r was asked for, this worker speaks %d." % (command["protocol"], PROTOCOL))
        self._asked = Prepare(command)
        prepared = self._prepared = self._framework.prepare(self._asked)
        # A framework is some 100,000 objects: looked at in every collection, they would make each measure 0.1 s longer.
        gc.collect()
        gc.freeze()
        self._channel.send(
            {
                "type": "prepared",
                "protocol": PROTOCOL,
                "versions": prepared.versions,
                "parameters": prepared.parameters,
                "effective": prepared.effective,
                "weights_bytes": prepared.weights_bytes,
                "cache_bytes": prepared.cache_bytes,
            }
        )

    def _measure(self, command):
        if self._prepared is None:
            raise ValueError("measure came before prepare")
        detail, seconds, max_samples = command["detail"], command["seconds"], command["max_samples"]
        if not 0 <= seconds <= 1e6 or max_samples < 1:
            raise ValueError("measure: seconds %r or max_samples %r is out of range" % (seconds, max_samples))
        names = {"step": ("",), "phases": self._prepared.phases, "layers": self._prepared.nodes}[detail]
        if not names:
            reason = self._prepared.refusals.get(detail, "the step cannot be split here.")
            raise Refused("detail %s: %s" % (detail, reason))
        if detail == "layers":
            self._framework.begin_layers()
            max_samples = min(max_samples, self._framework.most_layer_steps)
        output = command.get("output")
        if output is not None and (detail != "step" or self._asked.trains or self._asked.values is None):
            raise ValueError("measure: output is for steps of inference on given values")
        ns, parts, begin_ns, end_ns = self._take_steps(detail, round(seconds * 1e9), max_samples)
        if output is not None:
            self._framework.write_output(output)
        if detail == "phases":
            self._send_samples(ns, parts, self._framework.take_buckets(), [])
        else:
            self._send_samples(ns, [], [], self._framework.take_tokens() if detail == "step" else [])
        if detail == "layers":
            self._send_layers(self._framework.end_layers(parts))
        self._channel.send({"type": "done", "samples": len(ns), "begin_ns": begin_ns, "end_ns": end_ns})

    def _evaluate(self, command):
        if self._prepared is None or (self._asked.values is None and not self._asked.workload.get("generate")):
            raise ValueError("evaluate came without a prepare with values")
        losses, norms = self._framework.evaluate(Evaluate(command)) or ([], {})
        self._channel.send({"type": "evaluated", "losses": losses, "gradient_norms": norms})

    def _score(self):
        if self._prepared is None or self._asked.workload.get("data") != "digits":
            raise ValueError("score came without a prepare with data digits")
        correct, of, losses = self._framework.score()
        self._channel.send({"type": "scored", "correct": correct, "of": of, "losses": losses})

    def _take_steps(self, detail, limit_ns, max_samples):
        """The timed part. Nothing is sent or collected in it, and what a step returns is looked at afterwards."""
        one_step = {
            "step": self._framework.step,
            "phases": self._framework.step_with_phases,
            "layers": self._framework.step_with_layers,
        }[detail]
        clock = time.monotonic_ns  # CLOCK_MONOTONIC
        plain = detail == "step"
        ns, parts = [], []
        gc.collect()
        collects = gc.isenabled()
        gc.disable()
        if self._asked.ranks > 1:
            self._framework.barrier()
        try:
            begin_ns = clock()
            while True:
                before_ns = clock()
                given = one_step()
                after_ns = clock()
                if plain and given is not None:
                    ns.append(given)
                else:
                    ns.append(after_ns - before_ns)
                if not plain:
                    parts.append(given)
                if after_ns - begin_ns >= limit_ns or len(ns) >= max_samples:
                    return ns, parts, begin_ns, after_ns
        finally:
            if collects:
                gc.enable()

    def _send_samples(self, ns, parts, buckets, tokens):
        phases = self._prepared.phases if parts else ()
        values = 1 + len(phases) + 2 * len(buckets) + (len(tokens[0]) if tokens else 0)
        rows = max(1, _WANTED_LINE_BYTES // (_MOST_DIGITS * values))
        for begin in range(0, len(ns), rows):
            end = begin + rows
            message = {"type": "samples", "ns": ns[begin:end]}
            if phases:
                chosen = parts[begin:end]
                message["phases"] = {name: [step[i] for step in chosen] for i, name in enumerate(phases)}
            if tokens:
                message["tokens"] = tokens[begin:end]
            if buckets:
                message["buckets"] = [
                    {"bytes": size, "ns": took[begin:end], "hidden_ns": hidden[begin:end]}
                    for size, took, hidden in buckets
                ]
            self._channel.send(message)

    def _send_layers(self, parts):
        nodes = self._prepared.nodes
        a_line = max(1, _WANTED_LINE_BYTES // (_MOST_DIGITS * 2 * len(parts)))
        for begin in range(0, len(nodes), a_line):
            layers = []
            for i, node in enumerate(nodes[begin : begin + a_line], begin):
                forward = [step[0][i] for step in parts]
                backward = [step[1][i] for step in parts] if self._asked.trains else []
                layers.append({"node": node, "forward_ns": forward, "backward_ns": backward})
            self._channel.send({"type": "layers", "layers": layers})


def _place_of(error):
    """Where an error was raised: the last line outside installed packages, else the last."""
    frames = traceback.extract_tb(error.__traceback__)
    if not frames:
        return ""
    last = frames[-1]
    for frame in frames:
        if "site-packages" not in frame.filename and not frame.filename.startswith("<"):
            last = frame
    return " (%s, line %d, in %s: %s)" % (os.path.basename(last.filename), last.lineno, last.name, last.line)


def serve(framework_class):
    """Serves commands until `exit` or end of file. Returns the worker's exit code: 0, or 1 after an error."""
    channel = _Channel()
    try:
        _Session(channel, framework_class()).run()
        return 0
    except BrokenPipeError:
        return 1  # nobody is left to be told
    except Exception as error:
        if isinstance(error, Refused):
            kind = "refused"
        elif isinstance(error, (MemoryError, OutOfMemory)):
            kind = "out_of_memory"
        else:
            kind = "failed"
            traceback.print_exc(file=sys.stderr)
        text = str(error) if kind == "refused" else "%s: %s%s" % (type(error).__name__, error, _place_of(error))
        try:
            channel.send({"type": "error", "kind": kind, "message": text[:_MOST_MESSAGE_BYTES]})
        except OSError:
            pass
        return 1
    finally:
        gc.unfreeze()  # a framework may want its objects ended in order: MXNet aborts otherwise
