"""Assay's worker for TensorFlow. README.md says what it measures, workers/PROTOCOL.md how it is spoken to."""

import os
import sys

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "common"))
import assay_data
import assay_worker
from assay_tensorflow import settings


class TensorFlow(assay_worker.Framework):
    def prepare(self, prepare):
        _refuse_early(prepare)
        settings.before_import(prepare)
        import tensorflow as tf

        settings.after_import(tf, prepare)
        from assay_tensorflow import ranks, work

        self._asked = prepare
        self._ranks = ranks.Ranks(prepare) if prepare.ranks > 1 else None
        self._work = _guarded(work.build, prepare, self._ranks)
        return assay_worker.Prepared(
            versions={**settings.versions(tf), **assay_data.versions()},
            parameters=self._work.parameters,
            effective={
                **settings.read_back(tf),
                **self._work.effective,
                **(self._ranks.effective if self._ranks else {}),
            },
            phases=self._work.steps.phases,
            refusals={"layers": "a step is one function of TensorFlow's, which runs nodes side by side."},
        )

    def step(self):
        _guarded(self._work.steps.step)

    def step_with_phases(self):
        return _guarded(self._work.steps.step_with_phases)

    def barrier(self):
        self._ranks.barrier()

    def evaluate(self, evaluate):
        from assay_tensorflow import work

        return _guarded(work.evaluate, self._asked, self._work, evaluate)

    def score(self):
        return _guarded(self._work.steps.score)

    def write_output(self, path):
        from assay_tensorflow import work

        _guarded(work.write_output, self._work, path)


def _refuse_early(prepare):
    """What needs no TensorFlow to be refused."""
    is_network = prepare.graph is not None or prepare.file is not None
    exchanges = is_network and prepare.trains and prepare.ranks > 1
    known = settings.RANKS if exchanges else settings.NETWORK if is_network else settings.THREADS
    prepare.refuse_settings_beyond(known)
    device = prepare.placement.get("device") or "cpu"
    if device != "cpu":
        raise assay_worker.Refused("device '%s': this build of TensorFlow has only cpu." % device)
    assay_data.refuse_early(prepare, learns=True)


def _guarded(function, *arguments):
    """TensorFlow has an error of its own for want of memory."""
    import tensorflow as tf

    try:
        return function(*arguments)
    except tf.errors.ResourceExhaustedError as error:
        raise assay_worker.OutOfMemory(str(error)) from error


if __name__ == "__main__":
    sys.exit(assay_worker.serve(TensorFlow))
