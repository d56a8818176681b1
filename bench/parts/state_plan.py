"""The big comparison: which networks, at which sizes, on which runtimes; and what is left out, with the reason.

A row is a network, a mode and a precision, measured as one lock-step campaign of all runtimes that can.
"""

import json
from dataclasses import dataclass

# Columns: a runtime, and what is set beside the threads.
SIDES = {
    "pytorch": ("pytorch", {}),
    "pytorch compiled": ("pytorch", {"compile": "inductor"}),
    "libtorch": ("libtorch", {}),
    "tensorflow": ("tensorflow", {}),
    "jax": ("jax", {}),
    "mxnet": ("mxnet", {}),
    "onnxruntime": ("onnxruntime", {}),
    "openvino": ("openvino", {}),
}
MODES = ("infer", "train")
THREADS = 2
MOST_STEP_FLOPS = 12e9  # some .3 s on two cores; a larger network is made smaller
TRAIN_BATCHES = (8, 4, 2, 1)
MEASURE = {
    "seconds": "1s",
    "warmup_seconds": "300ms",
    "warmup_cap_seconds": "2s",
    "max_samples": 2000,
    "phases": False,
    "retries": 2,
}
# The smaller size of a network, where it has one that is as telling. In the order in which they are measured.
SMALLER = {
    "resnet50": {"image": 112},
    "mobilenet_v2": {"image": 112},
    "bert_base": {"sequence": 32, "layers": 4},
    "squeezenet": {"image": 112},
    "vit_b16": {"image": 64},
    "lstm": {},
    "densenet121": {"image": 64},
    "googlenet": {"image": 112},
    "gpt2": {"sequence": 16},
    "alexnet": {},
    "transformer": {"sequence": 16},
    "vgg16": {"image": 64},
    "dlrm": {"rows": 100000},
    "inception_v3": {"image": 139},
    "gru": {},
    "ncf": {},
}


@dataclass(frozen=True)
class Row:
    network: str
    mode: str
    precision: str
    batch: int
    options: tuple  # pairs of name and value; empty: as published

    @property
    def key(self):
        return f"{self.network}_{self.mode}_{self.precision}"

    @property
    def size(self):
        words = ", ".join(f"{name} {value}" for name, value in self.options) or "as published"
        return f"{words}, batch {self.batch}"


def row_of(network, mode, precision, flops_of):
    """The published size and the largest batch whose step is short enough, or else the smaller size of the network.

    `flops_of(network, options)` says what `assay show --network` does: FLOPs of a sample in each mode.
    """
    batches = TRAIN_BATCHES if mode == "train" else (1,)
    for options in ({}, SMALLER[network]):
        flops = flops_of(network, options)[mode]
        for batch in batches:
            if flops * batch <= MOST_STEP_FLOPS:
                return Row(network, mode, precision, batch, tuple(sorted(options.items())))
    return Row(network, mode, precision, batches[-1], tuple(sorted(SMALLER[network].items())))


def reason_against(worker, operators, row):
    """Why a runtime is not asked for this row, or None. `worker` is of `assay worker list`."""
    missing = sorted(operators - set(worker["operators"]))
    if missing:
        return "no operator " + ", ".join(missing)
    able = [one for one in worker["workloads"] if one["workload"] == row.network]
    if not able:
        return "network refused"
    if row.mode not in able[0]["modes"]:
        return "no training"
    if row.precision not in worker["precisions"]:
        return f"no {row.precision}"
    return None


def campaign(row, name, sides, groups):
    """A campaign as JSON, which is YAML too. The first side is the reference of its groups."""
    trials = []
    for side in sides:
        worker, settings = SIDES[side]
        trial = {"network": row.network, "worker": worker, "mode": row.mode, "batch": row.batch}
        trial |= {"precision": row.precision, "settings": {"intra_op": THREADS} | settings}
        trials.append(trial | ({"options": dict(row.options)} if row.options else {}))
    return json.dumps({"name": name, "seed": 1, "runs": groups, "measure": MEASURE, "trials": trials}, indent=1)
