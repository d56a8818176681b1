"""A client on aiohttp as people write it: sends at given times, reads streams, prints its CPU time and lateness.

aiohttp_client.py URL TIMES.csv    TIMES.csv has the column due_ns; POST where the URL ends in completions
"""

import asyncio
import csv
import json
import sys
import time

import aiohttp

BODY = {"prompt": " a" * 128, "max_tokens": 16, "stream": True, "stream_options": {"include_usage": True}}


async def one(session, url, due, begin, late, ok):
    await asyncio.sleep(max(0.0, begin + due - time.monotonic()))
    late.append(time.monotonic() - begin - due)
    if not url.endswith("completions"):
        async with session.get(url) as response:
            await response.read()
    else:
        async with session.post(url, json=BODY) as response:
            async for line in response.content:
                if line.startswith(b"data: {"):
                    json.loads(line[6:])
    ok.append(1)


async def main():
    url, path = sys.argv[1:]
    with open(path, encoding="ascii", newline="") as file:
        times = [int(row["due_ns"]) * 1e-9 for row in csv.DictReader(file)]
    late, ok, tasks = [], [], set()
    connector = aiohttp.TCPConnector(limit=0)
    async with aiohttp.ClientSession(connector=connector) as session:
        used = time.process_time()
        begin = time.monotonic() + 0.01
        for due in times:  # tasks are made shortly before their time, so that thousands of timers do not count
            await asyncio.sleep(max(0.0, begin + due - 0.05 - time.monotonic()))
            task = asyncio.ensure_future(one(session, url, due, begin, late, ok))
            tasks.add(task)
            task.add_done_callback(tasks.discard)
        await asyncio.gather(*tasks)
        used = time.process_time() - used
    late.sort()
    p99 = late[int(0.99 * len(late))]
    print(json.dumps({"cpu_us": used / len(times) * 1e6, "late_p99_ms": p99 * 1e3, "ok": len(ok)}))


asyncio.run(main())
