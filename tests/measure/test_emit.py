"""A tuning printed for use elsewhere, read by the programs that it is for: sh, Python, gunicorn, parsers of YAML and of
protobuf's text, and ours."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys

import jsonschema
import pytest
import referencing
import yaml
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory, text_format

CPUS = sorted(os.sched_getaffinity(0))
# What breaks careless quoting in a shell, in Python and in YAML.
HOSTILE = "'\"\\ $HOME $$ $(touch broken) `touch broken` #: - {x}\t\\n\u20ac\U0001f600\x7f\x85\ufeff%s{}!"
FORMATS = ["env", "sh", "json", "python", "slurm", "k8s", "gunicorn", "triton"]


@pytest.fixture
def emitted(place, tuning):
    def emit(form, *arguments, **settings):
        return place.assay("exec", "--tuned", tuning(*arguments, **settings), "--emit", form).stdout

    return emit


def environment_of(place, text, *before):
    """What a program has in its environment that a script of sh starts."""
    dump = [sys.executable, "-c", "import json, os; print(json.dumps(dict(os.environ)))"]
    return json.loads(place.run(["sh", place.write("tuned.sh", text), *before, *dump]).stdout)


def test_env_is_a_line_for_each_variable(emitted):
    lines = emitted("env", intra_op=4, spin=True, env={"MARK": "a'b\"c $d"}).splitlines()
    assert dict(line.split("=", 1) for line in lines) == {
        "OMP_NUM_THREADS": "4", "MKL_NUM_THREADS": "4", "MKL_DYNAMIC": "FALSE", "OMP_WAIT_POLICY": "active",
        "MARK": "a'b\"c $d"}  # fmt: skip


def test_env_refuses_what_has_several_lines(place, tuning):
    file = tuning(env={"MARK": "a\nINJECTED=1"})
    assert "--emit sh" in place.assay("exec", "--tuned", file, "--emit", "env", expect=2).stderr


@pytest.mark.parametrize("value", [HOSTILE, "two\nlines\n", "", "-n"])
def test_sh_gives_any_value_unchanged(place, emitted, value):
    seen = environment_of(place, emitted("sh", name=f"x\nexport BAD=1 {HOSTILE}", intra_op=2, env={"MARK": value}))
    assert seen["MARK"] == value and seen["OMP_NUM_THREADS"] == "2"
    assert "BAD" not in seen and not (place.path / "broken").exists()


@pytest.mark.skipif(len(CPUS) < 2, reason="needs two CPUs")
def test_sh_pins_each_instance_and_its_memory(place, emitted):
    file = place.write("tuned.sh", emitted("sh", instances=2, affinity="compact", memory_bind="interleave"))
    look = "import os; print(*os.sched_getaffinity(0)); print(open('/proc/self/numa_maps').readline().split()[1])"
    words = ["sh", file, sys.executable, "-c", look]
    runs = [place.run(["env", f"ASSAY_INSTANCE={i}", *words]) for i in range(3)]
    seen = [set(map(int, run.stdout.splitlines()[0].split())) for run in runs[:2]]
    assert seen[0] | seen[1] == set(CPUS) and not seen[0] & seen[1]
    assert all(run.stdout.splitlines()[1].startswith("interleave") for run in runs[:2])
    assert runs[2].code == 2 and "there are instances 0 to 1" in runs[2].stderr
    tools = ["env", "-", f"PATH={place.path}/tools", "/bin/sh", file, "true"]
    (place.path / "tools").mkdir()
    for tool in ("taskset", "true"):
        (place.path / "tools" / tool).symlink_to(shutil.which(tool))
    without = place.run(tools)
    assert without.code == 0 and "memory_bind=interleave is not set: numactl is not installed" in without.stderr


def test_sh_names_no_cpus_of_another_machine(emitted):
    text = emitted("sh", cpus=16 * len(CPUS), instances=2, affinity="compact")
    assert "taskset" not in text and "# Not set: affinity=compact" in text


def test_sh_keeps_what_is_preloaded(place, emitted):
    file = place.write("tuned.sh", emitted("sh", allocator="jemalloc"))
    shown = place.run(["env", "LD_PRELOAD=libm.so.6", "sh", file, "sh", "-c", "echo $LD_PRELOAD"])
    assert shown.stdout == "libjemalloc.so.2:libm.so.6\n"


def test_python_sets_the_same(place, emitted):
    text = emitted("python", intra_op=2, affinity="compact", inter_op=3, name="x\n1/0", env={"MARK": HOSTILE})
    assert "# Not set: inter_op=3. Write in your program: torch.set_num_interop_threads(3)" in text
    script = place.write("tuned.py", text + 'import json; print(json.dumps([dict(os.environ), os.sched_getaffinity(0)],'
                         ' default=list))')  # fmt: skip
    env, cpus = json.loads(place.run([sys.executable, script]).stdout)
    assert env["MARK"] == HOSTILE and env["OMP_NUM_THREADS"] == "2" and sorted(cpus) == CPUS


def test_json_is_the_tuning_again(place, emitted, tuning):
    text = emitted("json", instances=2, intra_op=3, env={"MARK": HOSTILE})
    again = place.assay("exec", "--tuned", place.write("again.json", text), "--emit", "json").stdout
    assert again == text and json.loads(text)["settings"]["env"] == {"MARK": HOSTILE}
    formats = place.root / "docs" / "formats"
    schemas = [json.loads(file.read_text()) for file in formats.glob("*.schema.json")]
    registry = referencing.Registry().with_resources(
        (schema["$id"], referencing.Resource.from_contents(schema)) for schema in schemas
    )
    whole = next(schema for schema in schemas if schema["title"] == "Tuning")
    validator = jsonschema.Draft202012Validator(whole, registry=registry)
    validator.validate(json.loads(text))
    assert not validator.is_valid({**json.loads(text), "settings": {"instances": 0}})


@pytest.mark.parametrize(
    ("settings", "cpus", "hint"),
    [
        ({"instances": 4, "intra_op": 2}, 2, True),  # 8 threads on 8 cores
        ({"instances": 2, "intra_op": 8}, 4, False),  # 16 threads: two for each core
        ({"intra_op": 8}, 8, True),
    ],
)
def test_slurm_asks_for_what_was_tuned(place, emitted, settings, cpus, hint):
    text = emitted("slurm", cpus=8, affinity="compact", memory_bind="local", env={"MARK": HOSTILE}, **settings)
    head = text[: text.index("export")]
    asked = dict(re.findall(r"(?m)^#SBATCH --([a-z-]+)=(\S+)$", head))
    expected = {"nodes": "1", "ntasks": str(settings.get("instances", 1)), "cpus-per-task": str(cpus)}
    assert asked == ({**expected, "hint": "nomultithread"} if hint else expected)
    assert re.search(rf"(?m)^exec srun .*--cpu-bind={'cores' if hint else 'threads'} .*--mem-bind=local \"\$@\"$", text)
    # A stand-in for srun shows that the script starts the program with its variables.
    place.write("srun", '#!/bin/sh\nwhile [ "${1#--}" != "$1" ]; do shift; done\nexec "$@"\n').chmod(0o755)
    seen = environment_of(place, f'PATH="{place.path}:$PATH"\n' + text)
    assert seen["MARK"] == HOSTILE and seen["OMP_NUM_THREADS"] == str(settings["intra_op"])


def kubernetes_value(text):
    """What the kubelet makes of a value: $$ is $, and $(NAME) would be replaced."""
    return re.sub(r"\$\$|\$\([^)]*\)", lambda found: "$" if found[0] == "$$" else "REPLACED", text)


def test_k8s_is_yaml_with_requests_like_limits(emitted):
    text = emitted("k8s", cpus=8, instances=4, intra_op=2, name="x\nimage: bad", env={"MARK": HOSTILE, "LINES": "a\nb"})
    container = yaml.safe_load(text)
    assert set(container) == {"resources", "env"}
    assert container["resources"] == {"requests": {"cpu": "2"}, "limits": {"cpu": "2"}}
    env = {entry["name"]: kubernetes_value(entry["value"]) for entry in container["env"]}
    assert env["MARK"] == HOSTILE and env["LINES"] == "a\nb" and env["OMP_NUM_THREADS"] == "2"


APPLICATION = """
import json, os
instance = os.environ["ASSAY_INSTANCE"]
seen = {"pid": os.getpid(), "cpus": sorted(os.sched_getaffinity(0)), "env": dict(os.environ)}
with open("half-" + instance, "w") as file:
    json.dump(seen, file)
os.rename("half-" + instance, "worker-" + instance)
def app(environ, start): ...
"""


def test_gunicorn_gives_each_worker_its_cpus_also_to_one_that_takes_the_place_of_another(place, emitted):
    count = min(2, len(CPUS))
    place.write("tuned.py", emitted("gunicorn", instances=count, intra_op=1, affinity="compact", env={"MARK": HOSTILE}))
    place.write("app.py", APPLICATION)
    argv = [sys.executable, "-m", "gunicorn", "--config", "tuned.py", "--no-control-socket", "--bind", "unix:socket"]
    with (place.path / "log").open("w") as log:
        server = subprocess.Popen([*argv, "app:app"], cwd=place.path, stderr=log, env=place.environment())

    def workers():
        """Who has loaded the application, by number, once all have."""
        assert server.poll() is None, (place.path / "log").read_text()
        files = sorted(place.path.glob("worker-*"))
        return len(files) == count and {file.name: json.loads(file.read_text()) for file in files}

    try:
        first = place.until(workers, "every worker")
        os.kill(first["worker-0"]["pid"], signal.SIGKILL)
        place.until(lambda: workers()["worker-0"]["pid"] != first["worker-0"]["pid"], "a new worker 0")
        second = workers()
    finally:
        server.terminate()
        server.wait()
    assert sorted(cpu for one in first.values() for cpu in one["cpus"]) == CPUS, "each CPU belongs to one worker"
    assert {name: one["cpus"] for name, one in second.items()} == {name: one["cpus"] for name, one in first.items()}
    for one in second.values():
        assert one["env"]["MARK"] == HOSTILE and one["env"]["OMP_NUM_THREADS"] == "1"


def model_config():
    """The part of Triton's ModelConfig that we write, by its numbers and types in model_config.proto."""
    field = descriptor_pb2.FieldDescriptorProto
    file = descriptor_pb2.FileDescriptorProto(name="part.proto", package="part", syntax="proto3")
    kinds = {"string": field.TYPE_STRING, "int32": field.TYPE_INT32}

    def add(message, name, number, kind, repeated=False):
        one = message.field.add(name=name, number=number, label=3 if repeated else 1)
        one.type = kinds.get(kind, field.TYPE_ENUM if kind.endswith("Kind") else field.TYPE_MESSAGE)
        if kind not in kinds:
            one.type_name = kind

    group = file.message_type.add(name="Group")
    kind = group.enum_type.add(name="Kind")
    for number, name in enumerate(["KIND_AUTO", "KIND_GPU", "KIND_CPU"]):
        kind.value.add(name=name, number=number)
    add(group, "count", 2, "int32")
    add(group, "kind", 4, ".part.Group.Kind")
    add(file.message_type.add(name="Parameter"), "string_value", 1, "string")
    config = file.message_type.add(name="Config")
    entry = config.nested_type.add(name="ParametersEntry")
    entry.options.map_entry = True
    add(entry, "key", 1, "string")
    add(entry, "value", 2, ".part.Parameter")
    add(config, "backend", 17, "string")
    add(config, "instance_group", 7, ".part.Group", repeated=True)
    add(config, "parameters", 14, ".part.Config.ParametersEntry", repeated=True)
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return message_factory.GetMessageClass(pool.FindMessageTypeByName("part.Config"))


@pytest.mark.parametrize(
    ("worker", "parameters"),
    [
        ("onnxruntime", {"intra_op_thread_count": "3", "inter_op_thread_count": "2", "execution_mode": "1"}),
        ("pytorch", {"INTRA_OP_THREAD_COUNT": "3", "INTER_OP_THREAD_COUNT": "2"}),
        ("openvino", {"INFERENCE_NUM_THREADS": "3"}),
    ],
)
def test_triton_is_text_of_protobuf(emitted, worker, parameters):
    text = emitted("triton", worker, instances=4, intra_op=3, inter_op=2, name='x"\n}')
    config = text_format.Parse(text, model_config()())
    assert config.backend == worker
    assert "intra_op=3" not in text, "a parameter says it, and no comment that it is not set"
    assert [(group.count, group.kind) for group in config.instance_group] == [(4, 2)]
    assert {name: value.string_value for name, value in config.parameters.items()} == parameters


def test_triton_runs_operators_one_by_one_where_that_was_tuned(emitted):
    config = text_format.Parse(emitted("triton", "onnxruntime", intra_op=3, inter_op=1), model_config()())
    assert set(config.parameters) == {"intra_op_thread_count"}


def test_triton_has_no_backend_for_every_framework(place, tuning):
    ended = place.assay("exec", "--tuned", tuning("mxnet", intra_op=1), "--emit", "triton", expect=2)
    assert "no backend for 'mxnet'" in ended.stderr


@pytest.mark.parametrize("form", FORMATS)
def test_every_format_does_without_settings(emitted, form):
    assert emitted(form) is not None


def test_an_unknown_format_lists_those_there_are(place, tuning):
    ended = place.assay("exec", "--tuned", tuning(), "--emit", "toml", expect=2)
    assert "toml" in ended.stderr and all(form in ended.stderr for form in FORMATS)


def test_nothing_stands_beside_emit_that_it_would_not_heed(place, tuning):
    words = ("exec", "--tuned", tuning(), "--emit", "sh")
    assert "starts no program" in place.assay(*words, "--", "true", expect=2).stderr
    assert "--rescale" in place.assay(*words, "--rescale", expect=2).stderr
