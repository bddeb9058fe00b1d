/* A libnvidia-ml.so.1 for the daemon's own tests: what it says stands in the text file FAKE_NVML, read at each call:
 *   device UUID TOTAL_BYTES
 *   process DEVICE_INDEX PID BYTES
 *   hang          (whoever asks waits for ever, as with a driver that is stuck, after making the file FAKE_NVML.hangs)
 * Only what mgpud calls. The simulated node's NVML lives in tests/sim-driver/nvml. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef int Result;
enum { OK = 0, INVALID = 2, NOT_FOUND = 6, TOO_SMALL = 7, UNKNOWN = 999 };
typedef struct { unsigned version; unsigned long long total, reserved, free, used; } Memory;
typedef struct { unsigned pid; unsigned long long used; unsigned gpu_instance, compute_instance; } Process;

#define MAX 16
static struct { char uuid[64]; unsigned long long total; } device[MAX];
static struct { unsigned device, pid; unsigned long long bytes; } process[64];
static unsigned devices, processes;

static void hang(const char *path) {
    char mark[4096];
    snprintf(mark, sizeof mark, "%s.hangs", path);
    FILE *file = fopen(mark, "w");
    if (file) fclose(file);
    for (;;) pause();
}

static Result look(void) {
    const char *path = getenv("FAKE_NVML");
    FILE *file = path ? fopen(path, "r") : NULL;
    char line[256];
    if (!file) return UNKNOWN;
    devices = processes = 0;
    while (fgets(line, sizeof line, file)) {
        if (!strncmp(line, "hang", 4)) hang(path);
        if (devices < MAX && sscanf(line, "device %63s %llu", device[devices].uuid, &device[devices].total) == 2) devices++;
        else if (processes < 64 && sscanf(line, "process %u %u %llu", &process[processes].device, &process[processes].pid,
                                          &process[processes].bytes) == 3) processes++;
    }
    fclose(file);
    return OK;
}

static unsigned index_of(void *handle) { return (unsigned)(size_t)handle - 1; }

Result nvmlInit_v2(void) { return look(); }
Result nvmlShutdown(void) { return OK; }
const char *nvmlErrorString(Result r) { return r == OK ? "ok" : "fake error"; }
Result nvmlSystemGetDriverVersion(char *out, unsigned n) { Result r = look(); snprintf(out, n, "999.1"); return r; }
Result nvmlDeviceGetCount_v2(unsigned *n) { Result r = look(); *n = devices; return r; }
Result nvmlDeviceGetHandleByIndex_v2(unsigned i, void **handle) {
    if (look() != OK || i >= devices) return INVALID;
    *handle = (void *)(size_t)(i + 1);
    return OK;
}
Result nvmlDeviceGetHandleByUUID(const char *uuid, void **handle) {
    if (look() != OK) return UNKNOWN;
    for (unsigned i = 0; i < devices; i++)
        if (!strcmp(device[i].uuid, uuid)) { *handle = (void *)(size_t)(i + 1); return OK; }
    return NOT_FOUND;
}
Result nvmlDeviceGetUUID(void *h, char *out, unsigned n) { snprintf(out, n, "%s", device[index_of(h)].uuid); return OK; }
Result nvmlDeviceGetName(void *h, char *out, unsigned n) { snprintf(out, n, "Fake %u", index_of(h)); return OK; }
Result nvmlDeviceGetMemoryInfo_v2(void *h, Memory *m) {
    m->total = m->free = device[index_of(h)].total;
    m->reserved = m->used = 0;
    return OK;
}
Result nvmlDeviceGetComputeRunningProcesses_v3(void *h, unsigned *count, Process *out) {
    unsigned room = *count, n = 0;
    if (look() != OK) return UNKNOWN;
    for (unsigned i = 0; i < processes; i++) {
        if (process[i].device != index_of(h)) continue;
        if (n < room && out) {
            memset(&out[n], 0, sizeof out[n]);
            out[n].pid = process[i].pid;
            out[n].used = process[i].bytes;
        }
        n++;
    }
    *count = n;
    return n > room ? TOO_SMALL : OK;
}
