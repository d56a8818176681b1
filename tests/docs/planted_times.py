"""Writes tables of times that follow a law, for docs/fitting.md: times.csv, and frameworks.csv with a law each."""

import csv

BATCHES, THREADS = (1, 2, 4, 8, 16, 32), (1, 2, 4, 8)


def write(path, heads, laws, runs):
    """A law is what its rows begin with, and the factor, the powers and the constant of its milliseconds."""
    with open(path, "w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file)
        rows.writerow([*heads, "batch", "threads", "step_ms"])
        for begin, factor, batch_power, threads_power, constant in laws * runs:
            for batch in BATCHES:
                for threads in THREADS:
                    step_ms = factor * batch**batch_power * threads**threads_power + constant
                    rows.writerow([*begin, batch, threads, f"{step_ms:.6f}"])


write("times.csv", [], [([], 2.03, 0.894, -0.7, 5)], runs=3)
write(
    "frameworks.csv",
    ["framework"],
    [(["jax"], 2, 0.9, -0.7, 5), (["pytorch"], 3, 0.9, -0.7, 2), (["tensorflow"], 1.2, 0.9, -0.7, 9)],
    runs=1,
)
