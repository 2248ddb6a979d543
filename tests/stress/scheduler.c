#include "tests/stress/scheduler.h"

#include <setjmp.h>
#include <stdlib.h>
#include <ucontext.h>

/* Each "thread" has a stack and what the real one would have as thread-local (trie/section.c). */
enum { STACK = 256 * 1024 };
struct seat {
    ucontext_t
        context; /* its start: later it changes by a jump, as swapcontext() calls the kernel */
    jmp_buf at;
    bool started;
    char *stack;
    void *section; /* kept from run to run: ck never forgets a record */
    bool taken;
    void *(*run)(void *);
    void *arg;
};

static struct seat seats[SCHEDULE_SEATS];
static jmp_buf outside;
static uint64_t state;
static uint32_t rate; /* another thread runs at one in this number of points */
static int mine = -1;

/* tests/stress/section_scheduled.c */
void *schedule_section(void *other);

static uint32_t next_random(void)
{
    /* xorshift64*, Vigna 2014 */
    state ^= state >> 12;
    state ^= state << 25;
    state ^= state >> 27;
    return (uint32_t)((state * UINT64_C(2685821657736338717)) >> 32);
}

/* Any other thread of the run, -1 if there is none. */
static int another(int but)
{
    int found = -1;
    for (int i = 0, n = 0; i < SCHEDULE_SEATS; i++)
        if (seats[i].taken && i != but && next_random() % (uint32_t)++n == 0)
            found = i;
    return found;
}

static void go(int next)
{
    int was = mine;
    void *section = schedule_section(next < 0 ? NULL : seats[next].section);
    if (was >= 0)
        seats[was].section = section;
    mine = next;
    if (_setjmp(was < 0 ? outside : seats[was].at) != 0)
        return;
    if (next >= 0 && !seats[next].started) {
        seats[next].started = true;
        setcontext(&seats[next].context);
        abort();
    }
    _longjmp(next < 0 ? outside : seats[next].at, 1);
}

void schedule_pass(void)
{
    int next = mine < 0 ? -1 : another(mine);
    if (next >= 0)
        go(next);
}

void schedule_point(void)
{
    if (mine >= 0 && next_random() % rate == 0)
        schedule_pass();
}

static void sit(void)
{
    seats[mine].run(seats[mine].arg);
    seats[mine].taken = false;
    go(another(mine));
}

void schedule_run(uint64_t seed, int threads, void *(*run)(void *), void *(*agent)(void *),
                  void *arg)
{
    static const uint32_t rates[] = {2, 8, 40, 300};
    if (threads >= SCHEDULE_SEATS)
        abort();
    state = (seed + 1) * UINT64_C(0x9E3779B97F4A7C15) | 1;
    rate = rates[seed % 4];
    for (int i = 0; i <= threads; i++) {
        struct seat *seat = &seats[i];
        if (seat->stack == NULL && (seat->stack = malloc(STACK)) == NULL)
            abort();
        seat->taken = true;
        seat->started = false;
        seat->run = i == threads ? agent : run;
        seat->arg = arg;
        getcontext(&seat->context);
        seat->context.uc_stack.ss_sp = seat->stack;
        seat->context.uc_stack.ss_size = STACK;
        makecontext(&seat->context, sit, 0);
    }
    go(0);
}
