/*
 * What a record costs in processor time: lttng_bench LIBRARY [N]: N records by libbbflow-lttng.so,
 * first while no session has the tracepoint enabled, then, after it printed READY and read a line,
 * while one has. tests/bench/lttng makes the session and counts what is in the trace.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#include "agent/lttng-ust/recorder.h"
#include "core/clock.h"

static void measure(const struct bbf_recorder *recorder, const char *what, long n)
{
    const struct bbf_log_record record = {
        .message = "LEAK direct: 7 new buffers (448 bytes), 7 so far (448 bytes), by worker-1: "
                   "PooledByteBufAllocator.directBuffer → OrderDecoder.decode → OrderHandler.leaky",
        .logger = "bbflow.leak",
        .class_name = "com.app.OrderHandler",
        .method = "leaky",
        .time_ms = 1795273400000,
        .level = 900,
        .thread = 31};
    uint64_t began = bbf_clock_ns(CLOCK_THREAD_CPUTIME_ID);

    for (long i = 0; i < n; i++)
        if (recorder->is_on())
            recorder->record(&record);
    double ns = (double)(bbf_clock_ns(CLOCK_THREAD_CPUTIME_ID) - began);
    printf("%s: %ld records, %.1f ns each, %.2f million in a second of it\n", what, n,
           ns / (double)n, 1000 * (double)n / ns);
}

int main(int argc, char **argv)
{
    long n = argc > 2 ? atol(argv[2]) : 1000000;
    char line[16];
    void *library = argc > 1 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
    const struct bbf_recorder *recorder =
        library != NULL ? dlsym(library, BBF_RECORDER_SYMBOL) : NULL;

    if (recorder == NULL) {
        fprintf(stderr, "lttng_bench: %s\n", dlerror());
        return 1;
    }
    measure(recorder, "off", n);
    printf("READY\n");
    fflush(stdout);
    if (fgets(line, sizeof line, stdin) == NULL)
        return 1;
    measure(recorder, "on", n);
    return 0;
}
