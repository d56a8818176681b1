"""A user's own network, `path/file.py:function`: the part that is the same for every framework.

make, where = assay_file.function_of(prepare)   # refuses a file that has changed, a function or option there is not
made = make()                                    # the function, called with the workload's options
data = assay_file.read(prepare)                  # the bytes of a file that is itself the network
"""

import functools
import hashlib
import importlib.util
import inspect
import os
import sys

import assay_worker

HASH_DIGITS = 32  # of the SHA-256, as the core writes it


def function_of(prepare):
    """The function with the workload's options bound to it, and `path:function` for messages."""
    path, name = prepare.file["path"], prepare.file["function"]
    read(prepare)
    function = getattr(_import(path), name, None)
    if not callable(function):
        raise assay_worker.Refused("%s has no function '%s'." % (path, name))
    options = prepare.workload.get("options") or {}
    try:
        inspect.signature(function).bind(**options)
    except TypeError as error:
        raise assay_worker.Refused("%s:%s does not take these options: %s." % (path, name, error)) from None
    return functools.partial(function, **options), "%s:%s" % (path, name)


def refuse(where, problem, expected, template):
    """Refuses what `path:function` returned, and says how such a function is written."""
    name = where.rpartition(":")[2]
    code = "\n".join("    " + line for line in template.format(name=name).strip().splitlines())
    raise assay_worker.Refused("%s returned %s. %s For example:\n%s" % (where, problem, expected, code))


def read(prepare):
    """The file's bytes. One that has changed is refused."""
    path = prepare.file["path"]
    try:
        with open(path, "rb") as file:
            data = file.read()
    except OSError as error:
        raise assay_worker.Refused("%s cannot be read: %s." % (path, error.strerror)) from None
    refuse_changed(prepare, hashlib.sha256(data).hexdigest())
    return data


def refuse_changed(prepare, sha256):
    """`sha256`: of the file as it is now, in hexadecimal digits."""
    found, wanted = sha256[:HASH_DIGITS], prepare.file["hash"]
    if found != wanted:
        message = "%s has changed since the campaign was planned (its hash is %s, planned was %s). Plan it again."
        raise assay_worker.Refused(message % (prepare.file["path"], found, wanted))


def _import(path):
    """Neighbours of the file can be imported by it, as when Python runs it."""
    sys.path.insert(0, os.path.dirname(path))
    name = os.path.splitext(os.path.basename(path))[0]
    if name in sys.modules or name in sys.stdlib_module_names:
        name = "assay_user_" + name  # it must not stand for a module that others import
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None:
        raise assay_worker.Refused("%s is not a Python file: its name must end with .py." % path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module
