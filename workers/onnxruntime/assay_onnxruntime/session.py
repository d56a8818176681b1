"""A session of ONNX Runtime: settings put into it, read back from it, and one step of it."""

import os
import time

import assay_worker
import numpy
import onnxruntime

_SPINS = ("session.intra_op.allow_spinning", "session.inter_op.allow_spinning")
_WANTS_MEMORY = ("Failed to allocate memory", "bad_alloc", "Available memory of")


class Session:
    """A network that stands ready. `fixed` gives symbolic dimensions of the file their size."""

    def __init__(self, path, settings, fixed, profile=None):
        """`profile`: how the path of a file begins that the time of each kernel is written to."""
        options = _options(settings, fixed)
        if profile is not None:
            options.enable_profiling, options.profile_file_prefix = True, profile
        before = os.listdir("/proc/self/task")
        self._session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
        self._started = [task for task in os.listdir("/proc/self/task") if task not in before]
        _refuse_strays(self._started)
        self._binding = self._session.io_binding()

    def bind(self, inputs):
        """Inputs by name, as numpy arrays, of which a copy in memory is kept: ONNX Runtime itself only points there."""
        self._inputs = {
            name: onnxruntime.OrtValue.ortvalue_from_numpy(numpy.array(value, order="C"))
            for name, value in inputs.items()
        }
        for name, value in self._inputs.items():
            self._binding.bind_ortvalue_input(name, value)
        for output in self._session.get_outputs():
            self._binding.bind_output(output.name, "cpu")

    def step(self):
        self._session.run_with_iobinding(self._binding)

    def step_with_phases(self):
        begin_ns = time.monotonic_ns()
        self.step()
        return (time.monotonic_ns() - begin_ns,)

    def outputs(self):
        """Of the last step."""
        return self._binding.copy_outputs_to_cpu()

    def end_profile(self):
        """Path of the file that was written."""
        return self._session.end_profiling()

    def effective(self):
        """A pool of n threads has n - 1 of its own beside the one that calls: they were counted."""
        options = self._session.get_session_options()
        parallel = options.execution_mode == onnxruntime.ExecutionMode.ORT_PARALLEL
        inter_op = options.inter_op_num_threads if parallel else 1
        effective = {"inter_op": inter_op, "intra_op": 1 + len(self._started) - (inter_op - 1)}
        try:
            effective["spin"] = options.get_session_config_entry(_SPINS[0]) == "1"
        except RuntimeError:
            pass  # was not set: the entry does not exist
        return effective


def is_out_of_memory(error):
    return any(part in str(error) for part in _WANTS_MEMORY)


def _options(settings, fixed):
    options = onnxruntime.SessionOptions()
    for name, size in fixed.items():
        options.add_free_dimension_override_by_name(name, size)
    if settings.get("intra_op") is not None:
        options.intra_op_num_threads = settings["intra_op"]
    inter_op = settings.get("inter_op")
    if inter_op is not None and inter_op > 1:  # the pool exists only in this mode
        options.execution_mode = onnxruntime.ExecutionMode.ORT_PARALLEL
        options.inter_op_num_threads = inter_op
    if settings.get("spin") is not None:
        for entry in _SPINS:
            options.add_session_config_entry(entry, "1" if settings["spin"] else "0")
    return options


def _refuse_strays(threads):
    """Left to itself, ONNX Runtime counts the cores of the machine and binds a thread to each, whatever CPUs it was
    given."""
    given = os.sched_getaffinity(0)
    for thread in threads:
        strayed = os.sched_getaffinity(int(thread)) - given
        if strayed:
            message = "intra_op is unset: ONNX Runtime would leave its CPUs (%s) for CPU %s. Set intra_op."
            raise assay_worker.Refused(message % (", ".join(map(str, sorted(given))), min(strayed)))
