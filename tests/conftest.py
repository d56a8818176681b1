"""What stays in one process where pytest has several (`pytest -n 4`): a file, whose tests may share what is costly."""

import pathlib

import pytest

# Cases of these files share nothing, or only what is made for their first parameter: they may part by it.
APART = {"test_commands.py", "test_conformance.py", "test_hostile_workers.py", "test_matrix.py"}


def group_of(nodeid):
    """tests/workers/test_matrix.py::test_one_runs[pytorch-gemm-infer] belongs to pytorch's, others to their file's."""
    file, _, case = nodeid.partition("::")
    _, _, parameters = case.partition("[")
    return f"{file}[{parameters.rstrip(']').partition('-')[0]}" if pathlib.Path(file).name in APART else file


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    from xdist.scheduler import LoadScopeScheduling

    class ByGroup(LoadScopeScheduling):
        def _split_scope(self, nodeid):
            return group_of(nodeid)

    return ByGroup(config, log)
