"""Which rows of published tables calibrate and which are held out. Fixed before anything was fitted to them.

Kernels: three shapes in ten are held out, by a hash of what was measured without the device, so that a shape is held
out on every device. Serving: tensor splits of 2 and the whole of GB200 are held out of aic_llm_serving_dense; of
splitwise_inference each configuration in turn. Parameter servers: rows of ddl_2020 with more than 8 devices.
"""

import csv
import hashlib

# What says which kernel a row measured; the device, the time and the source are not in it.
KERNEL_KEYS = {
    "gpu_gemm.csv": ("dtype", "m", "n", "k"),
    "gpu_attention.csv": ("kind", "batch", "new_tokens", "cached_tokens", "heads", "key_value_heads", "head_size"),
    "gpu_nccl.csv": ("collective", "devices", "elements"),
    "nccl_allreduce.csv": ("devices", "message_bytes"),
}
HELD_OUT_OF_TEN = 3


def read(path):
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def write(path, rows):
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, rows[0].keys(), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def kernel_held_out(table, row):
    key = "|".join(row[name] for name in KERNEL_KEYS[table])
    return int(hashlib.sha256(key.encode()).hexdigest()[:8], 16) % 10 < HELD_OUT_OF_TEN


def serving_splits(rows):
    """Of aic_llm_serving_dense: by name, the rows that calibrate and those that are held out."""
    known = [row for row in rows if row["gpu_system"] != "gb200"]
    return {
        "tensor 1 to 2": (
            [row for row in known if row["tp"] == "1"],
            [row for row in known if row["tp"] == "2"],
        ),
        "GB200 left out": (known, [row for row in rows if row["gpu_system"] == "gb200"]),
    }


def splitwise_group(row):
    """Rows of a device with its power capped are those without the cap, scaled: they are left out together."""
    return (row["model"], row["gpu"].removesuffix("-pcap"), row["tensor_parallel"])


def splitwise_splits(rows):
    """By configuration, the rows that calibrate and those that are held out."""
    groups = sorted({splitwise_group(row) for row in rows})
    return {
        " ".join(group): (
            [row for row in rows if splitwise_group(row) != group],
            [row for row in rows if splitwise_group(row) == group and not has_twin(row, rows)],
        )
        for group in groups
    }


def has_twin(row, rows):
    """Whether a row with a power cap repeats one without it, scaled: such a row is not scored a second time."""
    names = ("model", "tensor_parallel", "prompt_tokens", "batch_size", "output_tokens")
    return row["gpu"].endswith("-pcap") and any(
        other["gpu"] == row["gpu"].removesuffix("-pcap") and all(other[name] == row[name] for name in names)
        for other in rows
    )


def stopped_short(row, rows):
    """Whether a splitwise row is marked as stopped early and its first token came sooner than with half of the batch:
    part of the batch never ran, so the row says nothing of this batch. It neither calibrates nor is scored."""
    if not row.get("check_flags"):
        return False
    half = [
        other
        for other in rows
        if splitwise_group(other) == splitwise_group(row)
        and other["gpu"] == row["gpu"]
        and 2 * int(other["batch_size"]) == int(row["batch_size"])
        and other["prompt_tokens"] == row["prompt_tokens"]
    ]
    return any(float(row["ttft_ms_median"]) < float(other["ttft_ms_median"]) for other in half)


SERVER_METHODS = ("bsp-ps", "wfbp-ps", "bytescheduler-ps")
MOST_CALIBRATED_DEVICES = 8


def server_split(rows):
    """Of ddl_2020: rows of parameter servers that calibrate, on up to 8 devices, and those held out, on 16 and 32."""
    known = [row for row in rows if row["method"] in SERVER_METHODS]
    small = [row for row in known if int(row["devices"]) <= MOST_CALIBRATED_DEVICES]
    return small, [row for row in known if int(row["devices"]) > MOST_CALIBRATED_DEVICES]
