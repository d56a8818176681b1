"""A small network and, as an oracle, its training in plain Python and double precision."""

import math

import graphs
import value_files

GRAPH = graphs.graph(
    [{"name": "x", "shape": [5], "type": "real"}],
    [
        graphs.linear("first", "x", [7], 5),
        graphs.node("relu", "relu", "first", [7]),
        graphs.linear("second", "relu", [3], 7),
    ],
    loss="cross_entropy",
    name="perceptron",
)


def close(found, wanted, tolerance=1e-5):
    """By the relative L2 norm."""
    assert len(found) == len(wanted)
    distance = math.sqrt(sum((a - b) ** 2 for a, b in zip(found, wanted)))
    norm = math.sqrt(sum(b * b for b in wanted))
    assert distance <= tolerance * norm, (distance / norm, found[:5], wanted[:5])


def gradients_of(part, target):
    """Loss, and gradients by name as flat lists, by the chain rule written out."""
    count, loss = len(target), 0.0
    flat = {name: [0.0] * size for name, size in
            {"first/weight": 35, "first/bias": 7, "second/weight": 21, "second/bias": 3}.items()}  # fmt: skip
    for x, t in zip(part["input/x"], target):
        before = [b + sum(w * v for w, v in zip(row, x)) for row, b in zip(part["first/weight"], part["first/bias"])]
        hidden = [max(0.0, v) for v in before]
        out = [
            b + sum(w * v for w, v in zip(row, hidden)) for row, b in zip(part["second/weight"], part["second/bias"])
        ]
        total = sum(math.exp(v) for v in out)
        loss += (math.log(total) - out[t]) / count
        error = [(math.exp(v) / total - (k == t)) / count for k, v in enumerate(out)]
        into = [sum(error[k] * part["second/weight"][k][j] for k in range(3)) * (before[j] > 0) for j in range(7)]
        for k in range(3):
            flat["second/bias"][k] += error[k]
            for j in range(7):
                flat["second/weight"][7 * k + j] += error[k] * hidden[j]
        for j in range(7):
            flat["first/bias"][j] += into[j]
            for i in range(5):
                flat["first/weight"][5 * j + i] += into[j] * x[i]
    return loss, flat


def trained(values, updates, rate, momentum):
    """Losses before each update and after the last, and norms of the first gradients."""
    values, speed, losses, norms = dict(values), {}, [], None
    for _ in range(updates + 1):
        part = {name: value_files.nested(value) for name, value in values.items()}
        loss, gradients = gradients_of(part, values["target"][1])
        losses.append(loss)
        norms = norms or {name: math.sqrt(sum(g * g for g in flat)) for name, flat in gradients.items()}
        for name, gradient in gradients.items():
            shape, flat = values[name]
            speed[name] = [momentum * v + g for v, g in zip(speed.get(name, [0] * len(flat)), gradient)]
            values[name] = shape, [w - rate * v for w, v in zip(flat, speed[name])]
    return losses, norms
