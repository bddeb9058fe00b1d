"""What the Python load generators share: options, the loop, the JSON line at the end.

A client gives three functions: `launch()` queues one kernel, `wait()` waits for all of them, `allocate()` takes one block of
64 MiB and raises when it is refused. The loop launches as deep as the driver (or a limiter) lets it and waits only at its end: the
queue never runs empty.
"""

import argparse
import json
import signal
import time

BLOCK = 64 << 20

_stopping = False


def _stop(_signal, _frame):
    global _stopping
    _stopping = True


def options():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=5.0, help="how long to launch")
    parser.add_argument("--kernel-us", type=int, default=1000, help="device time of one kernel")
    parser.add_argument("--memory-mib", type=int, default=0, help="device memory to take in blocks of 64 MiB")
    return parser.parse_args()


def fill_memory(mebibytes, allocate, name_of):
    """Takes blocks until `mebibytes` or a refusal. Gives the blocks and the refusal's name, or None."""
    blocks = []
    while (len(blocks) + 1) * BLOCK <= mebibytes << 20:
        try:
            blocks.append(allocate())
        except Exception as refusal:  # whatever the client's own class is: its name is the result
            return blocks, name_of(refusal)
    return blocks, None


def run(client, launch, wait, allocate, name_of=lambda refusal: type(refusal).__name__):
    """The whole program after the client's own start."""
    wanted = options()
    signal.signal(signal.SIGTERM, _stop)
    signal.signal(signal.SIGINT, _stop)
    blocks, refused = fill_memory(wanted.memory_mib, allocate, name_of)
    launch()
    wait()
    print("ready", flush=True)
    launches = 0
    end = time.monotonic() + wanted.seconds
    while not _stopping and time.monotonic() < end:
        launch()
        launches += 1
    wait()
    result = {"client": client, "launches": launches, "allocated_bytes": len(blocks) * BLOCK, "oom": refused}
    print(json.dumps(result), flush=True)
