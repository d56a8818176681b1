"""Assay's worker for ONNX Runtime. README.md says what it measures, workers/PROTOCOL.md how it is spoken to."""

import contextlib
import os
import platform
import sys

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "common"))
import assay_graph
import assay_worker

SETTINGS = {"intra_op", "inter_op", "spin", "library_threads"}
MOST_PROFILED = 20_000  # nodes times steps in one profile, which has up to a kilobyte for each kernel
TELEMETRY = ("ORT_DISABLE_TELEMETRY", "ORT_TELEMETRY_DISABLED")  # now, and in the first releases that had it


class OnnxRuntime(assay_worker.Framework):
    def prepare(self, prepare):
        _refuse_early(prepare)
        for name in TELEMETRY:
            os.environ[name] = "1"  # else it has a thread and files of its own, and asks the network
        import numpy
        import onnx
        import onnxruntime

        self._asked, self._profiled, self._nodes = prepare, None, []
        if prepare.file is not None:
            parameters = _guarded(self._prepare_file, prepare)
        elif prepare.graph is None:
            parameters = _guarded(self._prepare_primitive, prepare)
        else:
            parameters = _guarded(self._prepare_graph, prepare)
        releases = {"onnxruntime": onnxruntime.__version__, "onnx": onnx.__version__, "numpy": numpy.__version__}
        return assay_worker.Prepared(
            versions={**releases, "python": platform.python_version()},
            parameters=parameters,
            effective=self._session.effective(),
            phases=("forward",),
            nodes=self._nodes,
            refusals={"layers": "only networks of Assay's have layers here, a user's file and primitives have none."},
        )

    def step(self):
        _guarded(self._session.step)

    def step_with_phases(self):
        return _guarded(self._session.step_with_phases)

    def begin_layers(self):
        """A session of its own, which writes down when each kernel ran."""
        from assay_onnxruntime import profile

        self.most_layer_steps = max(MOST_PROFILED // len(self._nodes), 10)
        with self._network() as (path, fixed):
            self._profiled = profile.ProfiledSession(path, self._asked.settings, fixed, self._nodes)
        self._profiled.bind(self._inputs)
        _guarded(self._profiled.step)  # the first one plans the memory

    def step_with_layers(self):
        _guarded(self._profiled.step)

    def end_layers(self, steps):
        profiled, self._profiled = self._profiled, None
        return profiled.layers(len(steps))

    def evaluate(self, evaluate):
        self.step()
        self.write_output(evaluate.output)

    def write_output(self, path):
        assay_graph.write_values(path, {"output": self._session.outputs()[0]})

    @contextlib.contextmanager
    def _network(self):
        """Path of the graph's file, and the sizes that it leaves open."""
        from assay_onnxruntime import model_file, writer

        with model_file.of(self._asked) as path:
            yield path, {writer.BATCH: self._asked.workload["batch"]}

    def _prepare_graph(self, prepare):
        from assay_onnxruntime import session

        with self._network() as (path, fixed):
            self._session = session.Session(path, prepare.settings, fixed)
        values = assay_graph.values_of(prepare)
        self._inputs = {i["name"]: values["input/" + i["name"]] for i in prepare.graph["inputs"]}
        self._session.bind(self._inputs)
        self._nodes = [node["name"] for node in prepare.graph["nodes"]]
        return prepare.graph["parameters"]

    def _prepare_primitive(self, prepare):
        from assay_onnxruntime import primitives

        self._session = primitives.Primitive(prepare)
        return 0

    def _prepare_file(self, prepare):
        from assay_onnxruntime import session, user_file

        loaded = user_file.load(prepare)
        self._session = session.Session(prepare.file["path"], prepare.settings, loaded.fixed)
        self._session.bind(loaded.inputs)
        return loaded.parameters


def _refuse_early(prepare):
    """What needs no framework to be refused."""
    prepare.refuse_settings_beyond(SETTINGS)
    workload = prepare.workload
    if prepare.trains:
        raise assay_worker.Refused("mode train: ONNX Runtime only infers here. Use mode infer.")
    if workload["precision"] != "fp32":
        raise assay_worker.Refused("precision '%s' is unknown here. There is fp32." % workload["precision"])
    device = prepare.placement.get("device") or "cpu"
    if device != "cpu":
        raise assay_worker.Refused("device '%s' is unknown here. There is cpu." % device)
    if prepare.ranks > 1:
        raise assay_worker.Refused("%d ranks: there is nothing to exchange. Use instances." % prepare.ranks)
    data = workload.get("data") or "memory"
    if data != "memory":
        raise assay_worker.Refused("data '%s': this worker has only memory." % data)


def _guarded(function, *arguments):
    """ONNX Runtime has no error of its own for want of memory."""
    try:
        return function(*arguments)
    except RuntimeError as error:
        from assay_onnxruntime.session import is_out_of_memory

        if is_out_of_memory(error):
            raise assay_worker.OutOfMemory(str(error)) from error
        raise


if __name__ == "__main__":
    sys.exit(assay_worker.serve(OnnxRuntime))
