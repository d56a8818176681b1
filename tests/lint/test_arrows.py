"""scripts/check-arrows finds planted violations and is silent on what is allowed."""

import importlib.machinery
import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def check(tree, files):
    (tree / "assay").mkdir(exist_ok=True)
    for name, text in files.items():
        path = tree / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    done = subprocess.run(
        [sys.executable, ROOT / "scripts/check-arrows", tree], capture_output=True, text=True, check=False
    )
    assert done.stderr == ""
    return done.returncode, done.stdout.splitlines()


@pytest.mark.parametrize(
    ("file", "include"),
    [
        ("assay/core/a.hpp", '"assay/stats/quantile.hpp"'),
        ("assay/core/a_test.cpp", '"assay/store/store.hpp"'),
        ("assay/stats/a.cpp", '"assay/plan/campaign.hpp"'),
        ("assay/plan/a.cpp", '"assay/store/store.hpp"'),
        ("assay/store/stores/sqlite.cpp", '"assay/measure/agent/agent.hpp"'),
        ("assay/store/a_fuzz.cpp", '"assay/report/report.hpp"'),
        ("assay/measure/a.cpp", '"cli/run.hpp"'),
        ("assay/report/a.cpp", '"workers/common/loop.hpp"'),
        ("assay/plan/a.cpp", '"assay/unheard_of/a.hpp"'),
        ("assay/unheard_of/a.cpp", "<vector>"),
        ("assay/platform/a.cpp", '"assay/platform/machine/topology.hpp"'),
        ("assay/measure/rank/a.cpp", '"assay/measure/agent/agent.hpp"'),
        ("assay/measure/rank/a.cpp", '"assay/store/store.hpp"'),
        ("assay/model/links/a.cpp", '"assay/model/fitting/fit.hpp"'),
        ("assay/predict/simulation/a.cpp", '"assay/predict/layer_source.hpp"'),
        ("assay/plan/a.cpp", '"../store/store.hpp"'),
        ("cli/commands/run.cpp", '"workers/common/loop.hpp"'),
        ("workers/fake/main.cpp", '"assay/plan/catalog/catalog.hpp"'),
        ("assay/store/a.cpp", "<yaml-cpp/yaml.h>"),
        ("assay/measure/a.cpp", "<sqlite3.h>"),
        ("assay/measure/a.cpp", "<libpq-fe.h>"),
        ("assay/plan/a.cpp", "<hwloc.h>"),
        ("assay/measure/a.cpp", "<nvml.h>"),
        ("assay/plan/a.cpp", "<CLI/CLI.hpp>"),
        ("assay/plan/a.cpp", "<Eigen/Dense>"),
        ("assay/compare/a.cpp", "<pagmo/pagmo.hpp>"),
        ("assay/model/a.cpp", "<simgrid/s4u.hpp>"),
        ("assay/compare/a.cpp", "<boost/math/distributions/binomial.hpp>"),
        ("workers/fake/main.cpp", "<sqlite3.h>"),
        ("cli/commands/run.cpp", "<yaml-cpp/yaml.h>"),
    ],
)
def test_a_planted_violation_is_found_with_its_line(tmp_path, file, include):
    code, lines = check(tmp_path, {file: f"#pragma once\n\n  #  include {include}\n"})
    assert code == 1
    assert len(lines) == 1
    assert lines[0].startswith(f"{file}:3: ")


def test_what_is_allowed_is_allowed(tmp_path):
    code, lines = check(
        tmp_path,
        {
            "assay/core/a.cpp": "#include <nlohmann/json.hpp>\n#include <fmt/core.h>\n",
            "assay/stats/a.cpp": '#include "assay/core/error.hpp"\n#include <boost/math/distributions/binomial.hpp>\n',
            "assay/plan/a.cpp": "#include <yaml-cpp/yaml.h>\n",
            "assay/store/a.hpp": '#include "assay/plan/campaign.hpp"\n#include "assay/stats/quantile.hpp"\n',
            "assay/store/stores/a.cpp": "#include <sqlite3.h>\n",
            "assay/measure/a_test.cpp": "#include <sqlite3.h>\n",
            "assay/platform/a.cpp": "#include <hwloc.h>\n",
            "assay/predict/a.cpp": '#include "assay/model/model.hpp"\n#include "assay/network/network.hpp"\n',
            "cli/run.cpp": '#include <CLI/CLI.hpp>\n#include "assay/report/report.hpp"\n#include "cli/common.hpp"\n',
            "workers/fake/main.cpp": '#include "workers/common/loop.hpp"\n#include "assay/core/clock.hpp"\n',
            "tests/live/a.cpp": '#include <sqlite3.h>\n#include "assay/store/store.hpp"\n',
            "bench/overhead.cpp": '#include <sqlite3.h>\n#include "assay/measure/agent/agent.hpp"\n',
        },
    )
    assert lines == []
    assert code == 0


def test_a_folder_of_more_than_thirty_files_is_named(tmp_path):
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    files = {f"assay/plan/a{i}.cpp": "" for i in range(31)} | {f"docs/formats/{i}.json": "" for i in range(40)}
    check(tmp_path, files)
    subprocess.run(["git", "-C", tmp_path, "add", "."], check=True)
    code, lines = check(tmp_path, {})
    assert code == 1
    assert [line.partition(":")[0] for line in lines] == ["assay/plan"]


def test_a_type_name_that_two_headers_define_is_named_with_both(tmp_path):
    twice = ["struct A {", "class A : public B<int> {", "class A final {", "enum class A : char {", "using A = int;"]
    files = {f"assay/plan/a{i}.hpp": f"namespace n{i} {{\n{text}\n" for i, text in enumerate(twice)}
    code, lines = check(tmp_path, files)
    assert code == 1
    assert lines[0] == "A: a type in " + ", ".join(files)
    assert lines[1].startswith("1 type names are defined in more than one header, 0 before. ")
    assert len(lines) == 2


def test_names_in_types_in_tests_and_of_declarations_are_not_counted(tmp_path):
    texts = {
        "assay/plan/a.hpp": "struct A {\n  struct B {\n  };\n};\nclass C;\nusing base::D;\n",
        "assay/plan/b.hpp": "struct B {\n};\nclass C {\n};\nusing base::D;\n",
        "assay/plan/a_fixture.hpp": "struct A {\n};\n",
        "assay/plan/a.cpp": "struct A {\n};\n",
        "assay/plan/c.hpp": "template <>\nstruct EnumNames<A> {\n};\n",
        "assay/plan/d.hpp": "template <>\nstruct EnumNames<B> {\n};\ntemplate <>\nstruct assay::EnumNames<C> {\n};\n",
        "bench/a.hpp": "struct A {\n};\n",
    }
    assert check(tmp_path, texts) == (0, [])


def test_fewer_shared_names_than_written_must_be_written():
    loader = importlib.machinery.SourceFileLoader("check_arrows", str(ROOT / "scripts/check-arrows"))
    script = importlib.util.module_from_spec(importlib.util.spec_from_loader("check_arrows", loader))
    loader.exec_module(script)
    shared = {"A": ["a.hpp", "b.hpp"]}
    assert list(script.wrong_count(shared, 1)) == []
    assert len(list(script.wrong_count(shared, 0))) == 2
    assert [line[:12] for line in script.wrong_count(shared, 2)] == ["1 type names"]


def test_our_own_tree_has_no_violation():
    done = subprocess.run([ROOT / "scripts/check-arrows"], capture_output=True, text=True, check=False)
    assert done.stdout == ""
    assert done.returncode == 0
