"""nvidia-ml-py: one JSON line for each device, then the end."""

import json

import pynvml


def text(value):
    return value.decode() if isinstance(value, bytes) else value


def main():
    pynvml.nvmlInit()
    for index in range(pynvml.nvmlDeviceGetCount()):
        device = pynvml.nvmlDeviceGetHandleByIndex(index)
        memory = pynvml.nvmlDeviceGetMemoryInfo(device)
        processes = pynvml.nvmlDeviceGetComputeRunningProcesses(device)
        line = {
            "name": text(pynvml.nvmlDeviceGetName(device)),
            "uuid": text(pynvml.nvmlDeviceGetUUID(device)),
            "total": memory.total,
            "used": memory.used,
            "pids": sorted(process.pid for process in processes),
        }
        print(json.dumps(line), flush=True)
    pynvml.nvmlShutdown()


if __name__ == "__main__":
    main()
