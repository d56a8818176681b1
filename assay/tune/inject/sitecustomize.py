"""Tells a framework, when a program imports it, the settings for which it reads no variable.

`assay exec --inject` puts this folder on PYTHONPATH; Python then runs this file before the program. What is to be set
comes in ASSAY_TUNED_INJECT as {"torch": {"inter_op": 2}}. A value that the program sets itself wins. Nothing here may
break a program: whatever goes wrong is a warning.
"""

import importlib.machinery
import importlib.util
import json
import os
import sys


def torch_hook(torch, settings):
    if "intra_op" in settings:
        torch.set_num_threads(settings["intra_op"])
    if "inter_op" in settings:
        torch.set_num_interop_threads(settings["inter_op"])


def onnxruntime_hook(onnxruntime, settings):
    """Options that are made later begin with the settings; a session without options gets such ones."""
    plain_options, plain_session = onnxruntime.SessionOptions, onnxruntime.InferenceSession

    class SessionOptions(plain_options):
        def __init__(self):
            super().__init__()
            if "intra_op" in settings:
                self.intra_op_num_threads = settings["intra_op"]
            if "inter_op" in settings:
                self.execution_mode = onnxruntime.ExecutionMode.ORT_PARALLEL
                self.inter_op_num_threads = settings["inter_op"]
            if "spin" in settings:
                for pool in ("intra_op", "inter_op"):
                    self.add_session_config_entry("session.%s.allow_spinning" % pool, "1" if settings["spin"] else "0")

    class InferenceSession(plain_session):
        def __init__(self, path_or_bytes, sess_options=None, *arguments, **named):
            options = SessionOptions() if sess_options is None else sess_options
            super().__init__(path_or_bytes, options, *arguments, **named)

    onnxruntime.SessionOptions, onnxruntime.InferenceSession = SessionOptions, InferenceSession


def openvino_hook(openvino, settings):
    """Every Core begins with the settings as properties of its CPU; a configuration given to compile_model wins."""
    properties = {}
    if "intra_op" in settings:
        properties["INFERENCE_NUM_THREADS"] = settings["intra_op"]
    if "instances" in settings or "affinity" in settings:
        properties["ENABLE_CPU_PINNING"] = False
    plain = openvino.Core.__init__

    def __init__(self, *arguments, **named):
        plain(self, *arguments, **named)
        self.set_property("CPU", properties)

    openvino.Core.__init__ = __init__


HOOKS = {"torch": torch_hook, "onnxruntime": onnxruntime_hook, "openvino": openvino_hook}


def warn(what, error):
    sys.stderr.write("assay exec: warning: %s: %s: %s\n" % (what, type(error).__name__, error))


class Watch:
    """Finds modules as Python would, and has a hook run behind the code of those that are named."""

    def __init__(self, wanted):
        self.wanted = wanted

    def find_spec(self, name, path=None, target=None):
        if name not in self.wanted:
            return None
        settings = self.wanted.pop(name)  # also keeps the search below from coming back here
        spec = importlib.util.find_spec(name)
        if spec is None or spec.loader is None:
            return spec
        run = spec.loader.exec_module

        def run_with_hook(module):
            run(module)
            try:
                HOOKS[name](module, settings)
            except Exception as error:
                warn("%s did not take %s" % (name, settings), error)

        spec.loader.exec_module = run_with_hook
        return spec


def watch():
    wanted = json.loads(os.environ.get("ASSAY_TUNED_INJECT", "{}"))
    unknown = set(wanted) - set(HOOKS)
    if unknown:
        raise ValueError("there is no hook for %s" % ", ".join(sorted(unknown)))
    sys.meta_path.insert(0, Watch(wanted))


def run_users_own():
    """The sitecustomize that Python would have run without this one."""
    here = os.path.dirname(os.path.abspath(__file__))
    others = [folder for folder in sys.path if os.path.abspath(folder or ".") != here]
    spec = importlib.machinery.PathFinder.find_spec("sitecustomize", others)
    if spec is None or spec.loader is None:
        return
    module = importlib.util.module_from_spec(spec)
    sys.modules["sitecustomize"] = module
    spec.loader.exec_module(module)


try:
    watch()
except Exception as error:
    warn("ASSAY_TUNED_INJECT", error)
run_users_own()
