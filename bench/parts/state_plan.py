"""The big comparison: which networks, at which sizes, on which runtimes; and what is left out, with the reason."""

import json

CAMPAIGN = "state_of_frameworks"
AGAIN = "state_of_frameworks_again"  # what was disturbed
RUNTIMES = ("pytorch", "libtorch", "tensorflow", "jax", "mxnet", "onnxruntime", "openvino")
MODES = ("infer", "train")
BATCHES = (1, 8)
MOST_STEP_FLOPS = 300e9  # one step of more takes many seconds on two cores
MEASURE = {
    "seconds": "600ms",
    "warmup_seconds": "200ms",
    "warmup_cap_seconds": "1s",
    "max_samples": 300,
    "phases": False,
    "retries": 0,
    "memory_limit_bytes": "14GiB",
}
THREADS = 2
# Sizes at which a step of training on 8 samples is at most some 150 GFLOP, the same for every runtime.
SIZES = {
    "alexnet": {},
    "bert_base": {"sequence": 32, "layers": 6},
    "bert_large": {"sequence": 32, "layers": 4},
    "cosmoflow": {"size": 64},
    "deeplabv3": {"image": 64},
    "deit": {"image": 112},
    "densenet121": {"image": 112},
    "dlrm": {"rows": 100000},
    "googlenet": {"image": 112},
    "gpt2": {"sequence": 16},
    "gru": {},
    "inception_v3": {"image": 139},
    "llama": {"sequence": 16, "layers": 4, "heads": 16, "key_heads": 4, "features": 1024, "hidden": 2816},
    "lstm": {},
    "mobilenet_v2": {},
    "ncf": {},
    "resnet50": {"image": 112},
    "roberta": {"sequence": 32, "layers": 6},
    "squeezenet": {},
    "ssd300": {},
    "transformer": {"sequence": 16},
    "unet": {"image": 64},
    "vgg16": {"image": 64},
    "vgg19": {"image": 64},
    "vit_b16": {"image": 64},
    "xception": {"image": 139},
}


def size_words(network):
    """The options of a network as a table shows them."""
    options = SIZES[network]
    return ", ".join(f"{name}={value}" for name, value in options.items()) or "as published"


def reason_against(worker, shown, network, mode, batch):
    """Why a runtime is not asked for this, or None. `worker` is of `assay worker list`, `shown` of `assay show`."""
    missing = sorted({node["op"] for node in shown["graph"]["nodes"]} - set(worker["operators"]))
    if missing:
        return "no operator " + ", ".join(missing)
    able = [one for one in worker["workloads"] if one["workload"] == network]
    if not able:
        return "network refused"
    if mode not in able[0]["modes"]:
        return "no training"
    if shown[f"{mode}_flops"] * batch > MOST_STEP_FLOPS:
        return "too long"
    return None


def plan(workers, shown, networks=tuple(SIZES)):
    """Cells (network, mode, batch, runtime) that are measured, and those that are not: each with its reason."""
    wanted, against = [], {}
    for network in networks:
        for mode in MODES:
            for batch in BATCHES:
                for name, worker in workers.items():
                    reason = reason_against(worker, shown[network], network, mode, batch)
                    if reason is None:
                        wanted.append((network, mode, batch, name))
                    else:
                        against[network, mode, batch, name] = reason
    return wanted, against


def flow(value):
    """JSON on one line is YAML too; words that need no quotes have none, as people write it."""
    if isinstance(value, dict):
        return "{%s}" % ", ".join(f"{key}: {flow(one)}" for key, one in value.items())
    if isinstance(value, list):
        return "[%s]" % ", ".join(flow(one) for one in value)
    return value if isinstance(value, str) else json.dumps(value)


def roofs_text(workers):
    """The best gemm and triad here, or None. Shares of the roofline need both, so they are measured first."""
    names = [name for name in ("onednn", "pytorch") if name in workers]
    trials = [{"network": "gemm", "worker": names, "options": {"m": n, "n": n, "k": n}} for n in (1024, 2048)]
    trials.append({"network": "triad", "worker": names})
    lines = ["name: state_roofs", "seed: 1", "runs: 2", "measure: {seconds: 500ms, retries: 0}", "trials:"]
    return "\n".join(lines + ["  - " + flow(trial) for trial in trials]) + "\n" if names else None


def campaign_text(wanted, runs, measure=None, name=CAMPAIGN):
    """A campaign file: an entry for each network, mode and set of runtimes."""
    entries = {}
    for network, mode, batch, runtime in wanted:
        entries.setdefault((network, mode, batch), []).append(runtime)
    merged = {}
    for (network, mode, batch), runtimes in entries.items():
        merged.setdefault((network, mode, tuple(runtimes)), []).append(batch)
    lines = [
        "# Every runtime on every network: docs/state_of_frameworks.md has the table that it fills.",
        "# Written by `bench/state_of_frameworks --write-example`; sizes and reasons are in bench/parts/state_plan.py.",
        f"name: {name}",
        "seed: 1",
        f"runs: {runs} # the first of all trials, then the second of all: what is cut short is cut alike",
        f"measure: {flow(MEASURE | (measure or {}))}",
        "trials:",
    ]
    for (network, mode, runtimes), batches in merged.items():
        entry = {"network": network, "worker": list(runtimes), "mode": mode, "batch": batches}
        if SIZES[network]:
            entry["options"] = SIZES[network]
        lines.append("  - " + flow(entry | {"settings": {"intra_op": THREADS}}))
    return "\n".join(lines) + "\n"
