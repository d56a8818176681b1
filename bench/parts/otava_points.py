"""Change points by Apache Otava, in a process of its own because it lies in the environment of the tests.

Reads {"series": [[…], …], "least": 0.02} from stdin, and "p" where it is not Otava's default; prints a list of indexes
for each series.
"""

import json
import sys

from otava.analysis import compute_change_points

question = json.load(sys.stdin)
options = {"min_magnitude": question["least"]}
if "p" in question:
    options["max_pvalue"] = question["p"]
found = []
for series in question["series"]:
    points, _ = compute_change_points(series, **options)
    found.append([int(point.index) for point in points])
print(json.dumps(found))
