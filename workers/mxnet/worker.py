"""Assay's worker for MXNet. README.md says what it measures, workers/PROTOCOL.md how it is spoken to."""

import os
import sys

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "common"))
import assay_data
import assay_digits
import assay_graph
import assay_worker
from assay_mxnet import ranks, settings


class MXNet(assay_worker.Framework):
    def prepare(self, prepare):
        _refuse_early(prepare)
        settings.before_import(prepare)
        self._group = ranks.Group(prepare)
        import mxnet

        mxnet.random.seed(assay_graph.data_seed(prepare) % 2**31)  # of dropout
        self._effective = settings.read_back()
        self._steps, parameters = _guarded(self._build, prepare)
        return assay_worker.Prepared(
            versions={**settings.versions(mxnet), **assay_data.versions()},
            parameters=parameters,
            effective=self._effective,
            phases=self._steps.phases,
            refusals={"layers": "a hybridized block runs nodes together."},
        )

    def step(self):
        _guarded(self._steps.step)

    def step_with_phases(self):
        return _guarded(self._steps.step_with_phases)

    def barrier(self):
        self._group.barrier()

    def evaluate(self, evaluate):
        return _guarded(self._steps.evaluate, evaluate)

    def score(self):
        return _guarded(self._steps.score)

    def write_output(self, path):
        _guarded(self._steps.write_output, path)

    def _build(self, prepare):
        from assay_mxnet import files, learning, network, primitives, steps

        if prepare.graph is None:
            made = primitives.Primitive(prepare)
            self._group.join()
            return made, 0
        if assay_digits.learns(prepare):
            return learning.Learning(prepare), prepare.graph["parameters"]
        data = assay_data.of(prepare)
        loader = None if data is None else files.Loader(data, prepare.settings)
        built = network.build(prepare)
        self._group.join()  # once nothing can be refused any more: the others wait for this rank
        if prepare.trains:
            made = steps.Training(built, prepare.workload["batch"], prepare.ranks, self._group.store)
        else:
            made = steps.Inference(built)
        if loader is not None:
            made = files.loaded(made, loader, built.names)
            self._effective.update(loader.effective)
        return made, prepare.graph["parameters"]


def _refuse_early(prepare):
    """What needs no mxnet to be refused."""
    prepare.refuse_settings_beyond(settings.KNOWN)
    workload, device = prepare.workload, prepare.placement.get("device") or "cpu"
    if prepare.file is not None:
        raise assay_worker.Refused("file '%s': this worker takes no files." % prepare.file["path"])
    if workload["precision"] != "fp32":
        raise assay_worker.Refused("precision '%s' is unknown here. There is fp32." % workload["precision"])
    if device != "cpu":
        raise assay_worker.Refused("device '%s' is unknown here. There is cpu." % device)
    assay_data.refuse_early(prepare, learns=True)


def _guarded(function, *arguments):
    """mxnet has an error of its own for want of memory."""
    import mxnet

    try:
        return function(*arguments)
    except mxnet.MXNetError as error:
        if "bad_alloc" in str(error) or "Failed to allocate" in str(error):
            raise assay_worker.OutOfMemory(str(error)) from error
        raise


if __name__ == "__main__":
    sys.exit(assay_worker.serve(MXNet))
