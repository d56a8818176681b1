"""Workers with a mistake each, which bench/equality must find: copies of ours with a few words replaced."""

import dataclasses
import json
import pathlib
import shutil

import figure


@dataclasses.dataclass
class Mistake:
    worker: str
    file: str
    replaced: dict  # text that stands there to what is planted
    network: str
    more: tuple = ()
    built: bool = False  # a program that must be compiled
    needs: tuple = ()  # flags of the CPU, one of which must be there for the mistake to show


TWO_LAYERS = ("--option", "layers=2")
MISTAKES = {
    "tanh form of GELU": Mistake(
        "tensorflow",
        "assay_tensorflow/operators.py",
        {"approximate=False": "approximate=True"},
        "bert_base",
        TWO_LAYERS,
    ),
    "another epsilon": Mistake(
        "onnxruntime",
        "assay_onnxruntime/operators.py",
        {'epsilon=node["attributes"]["epsilon"], axis=-1': "axis=-1"},
        "bert_base",
        TWO_LAYERS,
    ),
    "padding SAME": Mistake(
        "tensorflow",
        "assay_tensorflow/operators.py",
        {"            self.keras = None\n": '            self.keras = "same"\n'},
        "resnet50",
    ),
    "padding SAME in JAX": Mistake(
        "jax",
        "assay_jax/operators.py",
        {'padding=[(p, p) for p in a["padding"]]': 'padding="SAME"'},
        "mobilenet_v2",
        ("--option", "image=32"),
    ),
    "pools rounded down": Mistake(
        "onnxruntime",
        "assay_onnxruntime/operators.py",
        {'"MaxPool", node, node["inputs"], ceil_mode=int(bool(a.get("ceil")))': '"MaxPool", node, node["inputs"]'},
        "googlenet",
    ),
    "OpenVINO's own precision": Mistake(
        "openvino",
        "settings.cpp",
        {
            "ov::hint::inference_precision(precision_of(prepare)),": "",
            "if (precision != precision_of(prepare)) {": "if (false) {",
        },
        "resnet50",
        built=True,
        needs=("avx512_bf16", "amx_bf16"),
    ),
}


def can_show(mistake):
    """Whether the mistake makes a difference on this CPU: without bf16 OpenVINO computes in fp32 as all others."""
    flags = pathlib.Path("/proc/cpuinfo").read_text().split()
    return not mistake.needs or any(flag in flags for flag in mistake.needs)


def make(place, env, mistake):
    """A folder of workers with the wrong one in it, to be found before the right one."""
    number = len(list(place.path.glob("planted-*")))
    root = place.path / f"planted-{number}" / "workers"  # sources include each other by this name
    shipped = figure.BUILD / "workers"
    for name in ("common", "sources", mistake.worker):
        if (shipped / name).exists():
            shutil.copytree(shipped / name, root / name)
    path = root / mistake.worker / mistake.file
    text = path.read_text()
    for right, wrong in mistake.replaced.items():
        if right not in text:
            raise SystemExit(f"{path.name} has no {right!r}: the mistake must be planted anew")
        text = text.replace(right, wrong)
    path.write_text(text)
    if mistake.built:
        build(root / mistake.worker, env)
    return root


def build(folder, env):
    """Compiles the worker against the environment that is installed, into its own folder."""
    described = json.loads((folder / "worker.json").read_text())
    listed = json.loads(figure.run([figure.ASSAY, "worker", "list", "--json"], env).stdout)
    found = [w for w in listed if w["name"] == described["name"] and w["installed"]]
    if not found:
        raise SystemExit(
            f"the worker {described['name']} is not installed; run `assay worker install {described['name']}`"
        )
    (prefix,) = pathlib.Path(found[-1]["environment_folder"]).glob("lib/python3*/site-packages/openvino/cmake")
    program = pathlib.Path(described["argv"][0]).name
    configure = ["cmake", "-S", folder, "-B", folder / "build", "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release"]
    figure.run([*configure, f"-DCMAKE_PREFIX_PATH={prefix}", "-DCMAKE_CXX_COMPILER_LAUNCHER=ccache"], env)
    figure.run(["cmake", "--build", folder / "build", "-j2"], env)
    del described["environment"]
    described["argv"] = [str(folder / "build" / program)]
    (folder / "worker.json").write_text(json.dumps(described))
