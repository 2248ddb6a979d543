/*
 * steps TID COUNTER OPERATIONS: a thread's instructions, one by one (ptrace), for as many
 * operations as COUNTER counts, a file whose first eight bytes the program increments. Prints the
 * operations, the instructions, and how many cache lines of code (64 bytes) were executed at least
 * once in two operations. A step takes 10 to 30 µs. The thread continues afterwards. x86-64 only.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    PLACES_BITS = 20,
    PLACES = 1 << PLACES_BITS,
    PAGE = 4096,
    LINE_SHIFT = 6,
    TRAP_FLAG = 0x100
};

/* Cache lines of code, by their number; 0: free. Never full: a program's hot code is far smaller.
 */
static struct {
    uint64_t line, steps;
} places[PLACES];

static void fail(const char *what)
{
    fprintf(stderr, "steps: %s: %s\n", what, strerror(errno));
    exit(1);
}

static void count(uint64_t address)
{
    uint64_t line = address >> LINE_SHIFT,
             at = line * UINT64_C(0x9e3779b97f4a7c15) >> (64 - PLACES_BITS);
    while (places[at].line != 0 && places[at].line != line)
        at = (at + 1) % PLACES;
    places[at].line = line;
    places[at].steps++;
}

static int wait_for(pid_t tid)
{
    int status;
    if (waitpid(tid, &status, __WALL) < 0)
        fail("the thread");
    if (!WIFSTOPPED(status)) {
        fprintf(stderr, "steps: the thread ended meanwhile\n");
        exit(1);
    }
    return status;
}

static void stop(pid_t tid)
{
    if (ptrace(PTRACE_INTERRUPT, tid, NULL, NULL) != 0)
        fail("stop");
    (void)wait_for(tid);
}

static void step(pid_t tid, int status)
{
    int signal = status >> 16 == 0 && WSTOPSIG(status) != SIGTRAP ? WSTOPSIG(status) : 0;
    if (ptrace(PTRACE_SINGLESTEP, tid, NULL, signal) != 0)
        fail("step");
}

static struct user_regs_struct registers(pid_t tid)
{
    struct user_regs_struct all;
    if (ptrace(PTRACE_GETREGS, tid, NULL, &all) != 0)
        fail("registers");
    return all;
}

/* Some kernels leave the trap flag set; the next trap, which has no tracer, would end the process.
 */
static void let_go(pid_t tid)
{
    struct user_regs_struct all = registers(tid);
    all.eflags &= ~(unsigned long long)TRAP_FLAG;
    if (ptrace(PTRACE_SETREGS, tid, NULL, &all) != 0 || ptrace(PTRACE_CONT, tid, NULL, NULL) != 0)
        fail("let go");
    stop(tid);
    if (ptrace(PTRACE_DETACH, tid, NULL, NULL) != 0)
        fail("detach");
}

int main(int argc, char **argv)
{
    if (argc != 4) {
        fprintf(stderr, "steps TID COUNTER OPERATIONS\n");
        return 2;
    }
    pid_t tid = atoi(argv[1]);
    int fd = open(argv[2], O_RDONLY | O_CLOEXEC);
    const volatile uint64_t *counter = mmap(NULL, PAGE, PROT_READ, MAP_SHARED, fd, 0);
    uint64_t wanted = strtoull(argv[3], NULL, 10), steps = 0;
    if (counter == MAP_FAILED)
        fail(argv[2]);
    if (ptrace(PTRACE_SEIZE, tid, NULL, NULL) != 0)
        fail("seize");
    stop(tid);

    /* From one increment to another, so that only whole operations are counted. */
    uint64_t begun = *counter, first = begun;
    step(tid, 0);
    while (*counter - first < wanted || first == begun) {
        int status = wait_for(tid);
        if (first == begun) {
            first = *counter;
        } else {
            count(registers(tid).rip);
            steps++;
        }
        step(tid, status);
    }
    (void)wait_for(tid);
    uint64_t operations = *counter - first, lines = 0;
    let_go(tid);
    for (size_t i = 0; i < PLACES; i++)
        lines += places[i].steps >= operations / 2 && places[i].steps > 0;
    printf("%" PRIu64 " %" PRIu64 " %" PRIu64 "\n", operations, steps, lines);
    return 0;
}
