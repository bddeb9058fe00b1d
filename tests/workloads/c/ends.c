/* Fills device memory again and again, each time after what it held has gone in another way than by cuMemFree.
 *
 *   ends --how context|pool|exit|exec|sibling [--until MIB] [--block-mib 64]
 *
 * context: the context that held it is destroyed. pool: it came from a stream-ordered pool, which has let go of it. exit: a child
 * process that held it has ended. exec: so has the program that this process was before. After exit and exec it tries until it holds
 * --until MiB, for a driver takes its time to tear down what has ended.
 *
 * sibling: a child process has held 1 GiB and keeps one block of it; "ready" then. Each SIGUSR1 makes this
 * process allocate until it is refused, keep that, and print "held MIB"; SIGTERM ends it.
 *
 * One JSON line: MiB held by the first fill and by the last. */
#include "common.h"
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST = 1 << 16 };
static CUdeviceptr blocks[MOST];
static long count;
static size_t block_mib;
static CUdevice device;
static CUcontext context;
static volatile sig_atomic_t again;

static void on_again(int signal) {
    (void)signal;
    again = 1;
}

static void begin(void) {
    CHECK(cuInit(0));
    CHECK(cuDeviceGet(&device, 0));
    CHECK(cuDevicePrimaryCtxRetain(&context, device));
    CHECK(cuCtxSetCurrent(context));
}

/* Allocates until refused (or `most` blocks); MiB held. */
static long fill(int ordered, long most) {
    while (count < most) {
        CUresult code = ordered ? cuMemAllocAsync(&blocks[count], block_mib << 20, NULL) : cuMemAlloc(&blocks[count], block_mib << 20);
        if (code == CUDA_ERROR_OUT_OF_MEMORY) break;
        CHECK(code);
        count++;
    }
    return count * (long)block_mib;
}

static void drop_to(int ordered, long left) {
    while (count > left) {
        count--;
        CHECK(ordered ? cuMemFreeAsync(blocks[count], NULL) : cuMemFree(blocks[count]));
    }
    CHECK(cuCtxSynchronize());
}

static long fill_up_to(long mib) {
    while (fill(0, MOST) < mib && !stop_requested) usleep(1000);
    return count * (long)block_mib;
}

static void report(long first, long last) {
    printf("{\"client\": \"ends\", \"first\": %ld, \"last\": %ld}\n", first, last);
}

/* The child of `sibling`: takes 1 GiB, gives all but one block back, and stays. */
static void be_sibling(int told) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    begin();
    fill(0, 1024 / (long)block_mib);
    drop_to(0, 1);
    if (write(told, "x", 1) != 1) exit(3);
    for (;;) pause();
}

static int sibling(void) {
    int ready[2];
    char byte;
    if (pipe(ready)) return 3;
    pid_t child = fork();
    if (child == 0) be_sibling(ready[1]);
    close(ready[1]);
    if (read(ready[0], &byte, 1) != 1) return 3;
    begin();
    puts("ready");
    long first = -1, last = 0;
    while (!stop_requested) {
        if (again) {
            again = 0;
            last = fill(0, MOST);
            printf("held %ld\n", last);
            if (first < 0) first = last;
        }
        usleep(1000);
    }
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    report(first, last);
    return 0;
}

int main(int argc, char **argv) {
    setvbuf(stdout, NULL, _IOLBF, 0);
    stop_on_signals();
    struct sigaction action = {.sa_handler = on_again};
    sigaction(SIGUSR1, &action, NULL);
    const char *how = option(argc, argv, "--how", "context");
    long until = option_number(argc, argv, "--until", 0), first = option_number(argc, argv, "--first", 0);
    block_mib = (size_t)option_number(argc, argv, "--block-mib", 64);
    if (strcmp(how, "sibling") == 0) return sibling();
    if (strcmp(how, "exit") == 0) {
        pid_t child = fork();
        if (child == 0) {
            begin();
            _exit(fill(0, MOST) == until ? 0 : 1);
        }
        int status = 0;
        waitpid(child, &status, 0);
        if (status != 0) return 3;
        begin();
        report(until, fill_up_to(until));
        return 0;
    }
    begin();
    if (first > 0) {
        report(first, fill_up_to(until));
        return 0;
    }
    if (strcmp(how, "pool") == 0) {
        first = fill(1, MOST);
        drop_to(1, 0);
        report(first, fill(0, MOST));
        return 0;
    }
    first = fill(0, MOST);
    if (strcmp(how, "exec") == 0) {
        char text[32];
        snprintf(text, sizeof text, "%ld", first);
        execl("/proc/self/exe", argv[0], "--how", "exec", "--until", text, "--first", text, NULL);
        return 3;
    }
    CHECK(cuDevicePrimaryCtxRelease(device));
    count = 0;
    begin();
    report(first, fill(0, MOST));
    return 0;
}
