"""Calls `file.py:function` without arguments; a step is as many calls as the option `calls` says.

BENCH_SIDES/BENCH_SIDE.json, where these variables are set, lists folders that are imported from first, so that two
sides can import two releases.
"""

import importlib.util
import json
import os
import pathlib
import sys

_HERE = pathlib.Path(__file__).resolve().parent
_COMMON = [_HERE.parent / "common", _HERE.parents[3] / "workers" / "common"]  # in a wheel, in the source tree
sys.path[0] = str(next(folder for folder in _COMMON if folder.is_dir()))
import assay_file  # noqa: E402
import assay_worker  # noqa: E402

sys.path.pop(0)  # users' code finds neither these nor what is beside this file


def import_first():
    """Puts the folders of this side before all others."""
    folder, side = os.environ.get("BENCH_SIDES"), os.environ.get("BENCH_SIDE")
    if folder is None or side is None:
        return
    try:
        sys.path[:0] = json.loads(pathlib.Path(folder, side + ".json").read_text(encoding="utf-8"))
    except OSError as error:
        raise assay_worker.Refused("side %s: %s: %s." % (side, error.filename, error.strerror)) from None


def load(path: str):
    """The file as a module; neighbours come after all that is on the path already."""
    sys.path.append(os.path.dirname(path))
    name = pathlib.Path(path).stem
    if name in sys.modules or name in sys.stdlib_module_names:
        name = "assay_user_" + name
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


class Function(assay_worker.Framework):
    def prepare(self, prepare):
        if prepare.file is None:
            raise assay_worker.Refused("%s: write file.py:function." % prepare.workload["network"])
        prepare.refuse_settings_beyond(set())
        self.calls = range(prepare.options({"calls": 1})["calls"])
        assay_file.read(prepare)
        import_first()
        path, name = prepare.file["path"], prepare.file["function"]
        self.function = getattr(load(path), name, None)
        if not callable(self.function):
            raise assay_worker.Refused("%s has no function '%s'." % (path, name))
        return assay_worker.Prepared(versions={"python": "%d.%d.%d" % sys.version_info[:3]})

    def step(self):
        function = self.function
        for _ in self.calls:
            function()


if __name__ == "__main__":
    sys.exit(assay_worker.serve(Function))
