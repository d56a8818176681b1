"""Assay's worker for JAX. README.md says what it measures, workers/PROTOCOL.md how it is spoken to."""

import os
import sys

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "common"))
import assay_digits
import assay_worker
from assay_jax import settings


class Jax(assay_worker.Framework):
    def prepare(self, prepare):
        _refuse_early(prepare)
        settings.before_import(prepare)
        from assay_jax import ranks, work

        self._ranks = ranks.Ranks(prepare) if prepare.ranks > 1 else None
        self._work = _guarded(work.build, prepare, self._ranks)
        return assay_worker.Prepared(
            versions=settings.versions(),
            parameters=self._work.parameters,
            effective={**settings.read_back(), **self._work.effective},
            phases=self._work.steps.phases,
            refusals={"layers": "a step is compiled as a whole, and operators become one."},
        )

    def step(self):
        _guarded(self._work.steps.step)

    def step_with_phases(self):
        return _guarded(self._work.steps.step_with_phases)

    def barrier(self):
        self._ranks.barrier()

    def evaluate(self, evaluate):
        return _guarded(self._work.evaluate, evaluate)

    def score(self):
        return _guarded(self._work.steps.score)

    def write_output(self, path):
        _guarded(self._work.write_output, path)


def _refuse_early(prepare):
    """What needs no JAX to be refused."""
    is_network = prepare.graph is not None or prepare.file is not None
    prepare.refuse_settings_beyond(settings.NETWORK if is_network else settings.THREADS)
    device = prepare.placement.get("device") or "cpu"
    if device != "cpu":
        raise assay_worker.Refused("device '%s': this build of JAX has only cpu." % device)
    if prepare.values is not None and prepare.graph is None:
        name = prepare.workload["network"]
        raise assay_worker.Refused("values for '%s': only a network of Assay's takes weights from a file." % name)
    if assay_digits.learns(prepare):
        assay_digits.refuse_early(prepare)
    elif (prepare.workload.get("data") or "memory") != "memory":
        message = "data '%s': JAX has no loader of its own. Set data to memory or digits."
        raise assay_worker.Refused(message % prepare.workload["data"])


def _guarded(function, *arguments):
    """JAX has an error of its own for want of memory."""
    import jax

    try:
        return function(*arguments)
    except jax.errors.JaxRuntimeError as error:
        if "RESOURCE_EXHAUSTED" in str(error):
            raise assay_worker.OutOfMemory(str(error)) from error
        raise


def _end(code):
    """Ranks end together: one that is gone early looks to the others like one that died. After an error at once."""
    jax = sys.modules.get("jax")
    if jax is not None and jax.distributed.is_initialized():
        if code == 0:
            jax.distributed.shutdown()
        sys.stderr.flush()
        os._exit(code)
    sys.exit(code)


if __name__ == "__main__":
    _end(assay_worker.serve(Jax))
