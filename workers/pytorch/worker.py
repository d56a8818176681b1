"""Assay's worker for PyTorch. README.md says what it measures, workers/PROTOCOL.md how it is spoken to."""

import os
import sys

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "common"))
import assay_data
import assay_generate
import assay_worker
from assay_pytorch import settings


class PyTorch(assay_worker.Framework):
    def prepare(self, prepare):
        if prepare.workload.get("mode") == "generate":
            return self._prepare_generation(prepare)
        _refuse_early(prepare)
        settings.before_import(prepare)
        import torch

        settings.after_import(torch, prepare)
        from assay_pytorch import work

        built = _guarded(work.build, prepare)
        self._steps, self._evaluate, self._write_output = built.steps, built.evaluate, built.write_output
        return assay_worker.Prepared(
            versions={**settings.versions(torch), **assay_data.versions()},
            parameters=built.parameters,
            effective={**settings.read_back(torch), **built.effective},
            phases=built.steps.phases,
            nodes=built.steps.nodes,
            refusals=built.refusals,
        )

    def _prepare_generation(self, prepare):
        assay_generate.refuse_early(prepare)
        prepare.refuse_settings_beyond(settings.GENERATION)
        settings.before_import(prepare)
        import torch

        settings.after_import(torch, prepare)
        from assay_pytorch import generation

        engine, most_context, effective = _guarded(generation.build, prepare)
        asked = assay_generate.Asked(prepare, engine.vocabulary)
        assay_generate.check_context(asked, most_context)
        self._steps = assay_generate.Answers(engine, asked)
        self._evaluate = lambda evaluate: self._steps.evaluate(evaluate.output)
        if prepare.settings.get("compile") is not None:
            _guarded(self._steps.step)  # compiles: what stands ready is the compiled step
            self._steps.take_tokens()
        return assay_worker.Prepared(
            versions=settings.versions(torch),
            parameters=engine.parameters(),
            effective={**settings.read_back(torch), **effective},
            weights_bytes=engine.weights_bytes(),
            cache_bytes=engine.cache_bytes(),
        )

    def step(self):
        return _guarded(self._steps.step)

    def take_tokens(self):
        return self._steps.take_tokens() if isinstance(self._steps, assay_generate.Answers) else []

    def step_with_phases(self):
        return _guarded(self._steps.step_with_phases)

    def step_with_layers(self):
        return _guarded(self._steps.step_with_layers)

    def barrier(self):
        from torch import distributed

        distributed.barrier()

    def take_buckets(self):
        return self._steps.take_buckets()

    def evaluate(self, evaluate):
        return _guarded(self._evaluate, evaluate)

    def score(self):
        return _guarded(self._steps.score)

    def write_output(self, path):
        _guarded(self._write_output, path)


def _refuse_early(prepare):
    """What needs no torch to be refused."""
    is_network = prepare.graph is not None or prepare.file is not None
    together = prepare.trains and prepare.ranks > 1
    known = settings.TRAINING_TOGETHER if together else settings.NETWORK
    prepare.refuse_settings_beyond(known if is_network else settings.THREADS)
    device, backend = prepare.placement.get("device") or "cpu", prepare.settings.get("compile")
    if prepare.ranks > 1 and device != "cpu":
        raise assay_worker.Refused("device '%s' with %d ranks: gloo exchanges on the CPU." % (device, prepare.ranks))
    if together and backend is not None:
        message = "compile '%s' with %d ranks: a compiled step gives its gradients all at once. Leave compile unset."
        raise assay_worker.Refused(message % (backend, prepare.ranks))
    if prepare.values is not None and prepare.graph is None:
        name = prepare.workload["network"]
        raise assay_worker.Refused("values for '%s': only a network of Assay's takes weights from a file." % name)
    assay_data.refuse_early(prepare, learns=True)


def _guarded(function, *arguments):
    """torch has an error of its own for want of memory."""
    try:
        return function(*arguments)
    except RuntimeError as error:
        from assay_pytorch.device import is_out_of_memory

        if is_out_of_memory(error):
            raise assay_worker.OutOfMemory(str(error)) from error
        raise


def _end(code):
    """With several ranks at once: what gloo has running may still wait for others."""
    torch = sys.modules.get("torch")
    if torch is not None and torch.distributed.is_available() and torch.distributed.is_initialized():
        sys.stderr.flush()
        os._exit(code)
    sys.exit(code)


if __name__ == "__main__":
    _end(assay_worker.serve(PyTorch))
