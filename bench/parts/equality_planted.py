"""Workers with a mistake each, which bench/equality must find: copies of ours with a few words replaced."""

import dataclasses
import json
import pathlib
import shutil

from parts import figure


@dataclasses.dataclass
class Mistake:
    worker: str
    file: str
    replaced: dict  # text that stands there to what is planted
    network: str
    more: tuple = ()
    built: bool = False  # a program that must be compiled
    needs: tuple = ()  # flags of the CPU, one of which must be there for the mistake to show


_JAX_PADDING = 'padding=[*zip(a["padding"], a.get("padding_behind", a["padding"]))]'
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
        {_JAX_PADDING: 'padding="SAME"'},
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


_ORT = ("onnxruntime", "assay_onnxruntime/operators.py")
_ORT_SEQUENCES = ("onnxruntime", "assay_onnxruntime/sequences.py")
_SMALL = {
    "ssd300": ("--option", "classes=2"),
    "cosmoflow": ("--option", "size=32", "--option", "channels=4"),
    "deeplabv3": ("--option", "image=64"),
    "dlrm": ("--option", "rows=100"),
    "llama": ("--option", "layers=1", "--option", "features=256", "--option", "hidden=512"),
    "transformer": ("--option", "layers=1"),
    "unet": ("--option", "image=32"),
    "vit_b16": ("--option", "layers=1"),
}


def _in(worker, network, replaced):
    return Mistake(*worker, replaced, network, _SMALL.get(network, ()))


# Each in an operator that only a few networks need; outputs keep their shape.
MISTAKES_OF_FEW = {
    "pixels column by column": _in(
        _ORT_SEQUENCES,
        "vit_b16",
        {
            '[*node["inputs"], flat]': (
                '[model.add("Transpose", node, node["inputs"], part="turned", perm=[0, 1, 3, 2]), flat]'
            )
        },
    ),
    "no dilation": _in(
        ("tensorflow", "assay_tensorflow/operators.py"),
        "deeplabv3",
        {'"dilation_rate": tuple(a["dilation"])': '"dilation_rate": (1, 1)'},
    ),
    "corners aligned": _in(
        ("mxnet", "assay_mxnet/operators.py"), "deeplabv3", {'"align_corners": False': '"align_corners": True'}
    ),
    "kernel the other way round": _in(
        ("tensorflow", "assay_tensorflow/weights.py"),
        "unet",
        {
            "    if isinstance(layer, (kl.Conv2D, kl.Conv2DTranspose)):": (
                "    if isinstance(layer, kl.Conv2DTranspose):\n"
                "        return layer.kernel, lambda w: w[..., ::-1].transpose(2, 3, 1, 0)\n"
                "    if isinstance(layer, kl.Conv2D):"
            )
        },
    ),
    "another norm": _in(_ORT, "ssd300", {"axis=1, p=2": "axis=1, p=1"}),
    "another slope": _in(
        ("mxnet", "assay_mxnet/operators.py"), "cosmoflow", {'slope=node["attributes"]["alpha"]': "slope=0.25"}
    ),
    "padding in front": _in(
        _ORT,
        "cosmoflow",
        {
            '[*attributes["padding"], *attributes.get("padding_behind", attributes["padding"])]': (
                '[*attributes.get("padding_behind", attributes["padding"]), *attributes["padding"]]'
            )
        },
    ),
    "means of blocks": _in(
        _ORT,
        "cosmoflow",
        {
            '"max_pool3d": _max_pool': (
                '"max_pool3d": lambda model, node: model.add("AveragePool", node, node["inputs"], '
                '**_window(node["attributes"]))'
            )
        },
    ),
    "gates of an LSTM in another order": _in(_ORT_SEQUENCES, "lstm", {"(0, 3, 1, 2)": "(0, 1, 2, 3)"}),
    "gates of a GRU in another order": _in(
        ("tensorflow", "assay_tensorflow/weights.py"), "gru", {"[update, reset, new]": "[reset, update, new]"}
    ),
    "above the diagonal": _in(
        _ORT_SEQUENCES, "dlrm", {"numpy.tril_indices(count, -1)": "numpy.triu_indices(count, 1)"}
    ),
    "epsilon of a norm without mean": _in(
        _ORT_SEQUENCES, "llama", {'numpy.float32(node["attributes"]["epsilon"])': "numpy.float32(1e-4)"}
    ),
    "turned back": _in(_ORT_SEQUENCES, "llama", {'model.add("Sub", node, less': 'model.add("Add", node, less'}),
    "heads of keys in turns": _in(
        _ORT,
        "llama",
        {
            "[0, 0, key_heads, 1, size]": "[0, 0, 1, key_heads, size]",
            '[1, 1, 1, node["attributes"]["heads"] // key_heads, 1]': (
                '[1, 1, node["attributes"]["heads"] // key_heads, 1, 1]'
            ),
        },
    ),
    "positions from the end": _in(
        _ORT_SEQUENCES, "transformer", {"assay_graph.sinusoids(node))": "assay_graph.sinusoids(node)[::-1].copy())"}
    ),
    "a shared table with the other sign": _in(
        _ORT,
        "transformer",
        {
            '"Gather", node, [weight, *node["inputs"]], axis=0': (
                '"Gather", node, [model.add("Neg", node, [weight], part="negative") if owner else weight, '
                '*node["inputs"]], axis=0'
            )
        },
    ),
}

_JAX = ("jax", "assay_jax/operators.py")
_JAX_SEQUENCES = ("jax", "assay_jax/sequences.py")
_JAX_HEADS = 'reshape(batch, positions, key_heads, a["heads"] // key_heads, -1)'
_JAX_MAXIMUM = '"max_pool3d": _max_pool'

# The same operators in JAX, whose functions and weights are like no other worker's.
MISTAKES_OF_JAX = {
    "pixels column by column": _in(
        ("jax", "assay_jax/layout.py"),
        "vit_b16",
        {"x.reshape(x.shape[0], math": "x.swapaxes(1, 2).reshape(x.shape[0], math"},
    ),
    "no dilation": _in(
        _JAX,
        "deeplabv3",
        {
            'rhs_dilation=a.get("dilation")': "rhs_dilation=None",
            _JAX_PADDING: f'{_JAX_PADDING} if "dilation" not in a else "SAME"',
        },
    ),
    "nearest pixels": _in(_JAX, "deeplabv3", {'"linear", antialias': '"nearest", antialias'}),
    "kernel upside down": _in(_JAX, "unet", {'"weight"),\n        strides': '"weight")[::-1],\n        strides'}),
    "a mean for a norm": _in(_JAX, "ssd300", {"jnp.square(real).sum(": "jnp.square(real).mean("}),
    "JAX's own slope": _in(_JAX, "cosmoflow", {'nn.leaky_relu(x, node["attributes"]["alpha"])': "nn.leaky_relu(x)"}),
    "padding in front": _in(
        _JAX,
        "cosmoflow",
        {_JAX_PADDING: 'padding=[*zip(a.get("padding_behind", a["padding"]), a["padding"])]'},
    ),
    "means of blocks": _in(
        _JAX,
        "cosmoflow",
        {
            _JAX_MAXIMUM: (
                '"max_pool3d": lambda run, node, x: '
                "lax.reduce_window(x, 0.0, lax.add, *_Window(node, run.layout).arguments) / 8"
            )
        },
    ),
    "gates of an LSTM in another order": _in(
        _JAX_SEQUENCES, "lstm", {"let_in, keep, new, out =": "let_in, new, keep, out ="}
    ),
    "gates of a GRU in another order": _in(
        _JAX_SEQUENCES,
        "gru",
        {
            "reset, keep, new = ": "keep, reset, new = ",
            "reset_state, keep_state, new_state = ": "keep_state, reset_state, new_state = ",
        },
    ),
    "above the diagonal": _in(
        _JAX_SEQUENCES, "dlrm", {"tril_indices(len(vectors), -1)": "triu_indices(len(vectors), 1)"}
    ),
    "epsilon of a norm without mean": _in(
        _JAX_SEQUENCES, "llama", {'rsqrt(squares + node["attributes"]["epsilon"])': "rsqrt(squares + 1e-4)"}
    ),
    "turned back": _in(
        _JAX_SEQUENCES,
        "llama",
        {"first * cosine - second": "first * cosine + second", "+ first * sine": "- first * sine"},
    ),
    "heads of keys in turns": _in(
        _JAX_SEQUENCES,
        "llama",
        {_JAX_HEADS: 'reshape(batch, positions, a["heads"] // key_heads, key_heads, -1).swapaxes(2, 3)'},
    ),
    "positions from the end": _in(
        _JAX_SEQUENCES, "transformer", {"assay_graph.sinusoids(node)": "assay_graph.sinusoids(node)[::-1]"}
    ),
    "a shared table with the other sign": _in(
        _JAX_SEQUENCES,
        "transformer",
        {
            'return run.table(node.get("owner", node))[x]': (
                'return run.table(node.get("owner", node))[x] * (-1 if "owner" in node else 1)'
            )
        },
    ),
}


def _libtorch(file, network, replaced, more=None):
    return Mistake("libtorch", file, replaced, network, _SMALL.get(network, ()) if more is None else more, built=True)


_TRAINED = ("--option", "sequence=8", *TWO_LAYERS, "--batch", "2", "--train")
# Each in a builder or in the training of the worker that is C++ throughout; each is compiled for some minutes.
MISTAKES_OF_LIBTORCH = {
    "no momentum": _libtorch(
        "steps.cpp", "bert_base", {"torch::optim::SGDOptions(rate).momentum(momentum)": "rate"}, _TRAINED
    ),
    "statistics of inference in training": _libtorch(
        "norms.cpp",
        "mobilenet_v2",
        {"mean, variance, trains,": "mean, variance, false,"},
        ("--option", "image=32", "--batch", "4", "--train"),
    ),
    "GELU by tanh": _libtorch(
        "activations.cpp", "bert_base", {"return at::gelu(in[0]);": 'return at::gelu(in[0], "tanh");'}, TWO_LAYERS
    ),
    "corners of a resize": _libtorch("pools.cpp", "deeplabv3", {"/*align_corners=*/false": "true"}),
    "padding counted": _libtorch(
        "pools.cpp", "inception_v3", {"w.ceil, counted)": "w.ceil, !counted)"}, ("--option", "image=75")
    ),
    "padding after in front": _libtorch(
        "convolutions.cpp", "cosmoflow", {"{moves.padding.at(i), behind[i]}": "{behind[i], moves.padding.at(i)}"}
    ),
    "upper half of the products": _libtorch(
        "shapes.cpp", "dlrm", {"at::tril_indices(count, count, -1)": "at::triu_indices(count, count, 1)"}
    ),
    "heads turned back": _libtorch("sequences.cpp", "llama", {"first * cosine - second": "first * cosine + second"}),
    "sines and cosines": _libtorch(
        "sequences.cpp",
        "transformer",
        {
            "numbers.push_back(static_cast<float>(std::sin(angle)))": "numbers.push_back(std::cos(angle))",
            "numbers.push_back(static_cast<float>(std::cos(angle)))": "numbers.push_back(std::sin(angle))",
        },
    ),
    "looks ahead": _libtorch(
        "sequences.cpp", "gpt2", {"{}, dropout, causal,": "{}, dropout, false,"}, ("--option", "sequence=16")
    ),
    "biases of a GRU exchanged": _libtorch(
        "recurrent.cpp", "gru", {"weight_state, bias[0], bias[1]": "weight_state, bias[1], bias[0]"}
    ),
}


def can_show(mistake):
    """Whether the mistake makes a difference on this CPU: without bf16 OpenVINO computes in fp32 as all others."""
    flags = pathlib.Path("/proc/cpuinfo").read_text().split()
    return not mistake.needs or any(flag in flags for flag in mistake.needs)


def kinds(full):
    """Groups of mistakes, by name: one of each kind, or also one in each operator that few networks need."""
    return (MISTAKES, MISTAKES_OF_FEW, MISTAKES_OF_JAX, MISTAKES_OF_LIBTORCH) if full else (MISTAKES,)


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
            raise SystemExit(f"{path.name} has no {right!r}: the mistake must be planted again")
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
    (prefix,) = pathlib.Path(found[-1]["environment_folder"]).glob("lib/python3*/site-packages")
    program = pathlib.Path(described["argv"][0]).name
    configure = ["cmake", "-S", folder, "-B", folder / "build", "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release"]
    figure.run([*configure, f"-DCMAKE_PREFIX_PATH={prefix}", "-DCMAKE_CXX_COMPILER_LAUNCHER=ccache"], env)
    figure.run(["cmake", "--build", folder / "build", "-j2"], env)
    del described["environment"]
    described["argv"] = [str(folder / "build" / program)]
    (folder / "worker.json").write_text(json.dumps(described))
