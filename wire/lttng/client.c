/* SPDX-License-Identifier: Apache-2.0 */
#include "wire/lttng/client.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "core/clock.h"
#include "core/err.h"
#include "core/spawn.h"
#include "wire/lttng/link.h"

enum { STACK_BYTES = 256 * 1024, PAUSE_MS = 100, WAIT_MOST_MS = 60000 };
/* polls[i] is of links[i]; the last one is the call to stop. */
enum { POLLS = BBF_LTTNG_DAEMONS + 1 };

struct bbf_lttng_client {
    struct bbf_lttng_config config;
    struct bbf_lttng_link links[BBF_LTTNG_DAEMONS]; /* the thread's */
    int stop_fd;
    pthread_t thread;
    /* Relaxed: each is a whole answer by itself and publishes nothing else. */
    _Atomic uint64_t levels[BBF_LTTNG_LOGGERS_MAX]; /* least << 32 | most */
    _Atomic uint16_t ports[BBF_LTTNG_DAEMONS];
};

/* ---- what other threads read ---- */

static uint64_t pack(struct bbf_lttng_levels levels)
{
    return (uint64_t)(uint32_t)levels.least << 32 | (uint32_t)levels.most;
}

bool bbf_lttng_wants(const struct bbf_lttng_client *client, size_t logger, int32_t level)
{
    uint64_t levels = atomic_load_explicit(&client->levels[logger], memory_order_relaxed);

    return (int32_t)(uint32_t)(levels >> 32) <= level && level <= (int32_t)(uint32_t)levels;
}

uint16_t bbf_lttng_port(const struct bbf_lttng_client *client, enum bbf_lttng_daemon daemon)
{
    return atomic_load_explicit(&client->ports[daemon], memory_order_relaxed);
}

static struct bbf_lttng_levels levels_of(const struct bbf_lttng_client *client, const char *logger)
{
    struct bbf_lttng_levels all = BBF_LTTNG_NO_LEVELS;

    for (size_t i = 0; i < BBF_LTTNG_DAEMONS; i++) {
        struct bbf_lttng_levels one =
            bbf_lttng_enabled_levels(&client->links[i].state.enabled, logger);
        all.least = one.least < all.least ? one.least : all.least;
        all.most = one.most > all.most ? one.most : all.most;
    }
    return all;
}

static void publish(struct bbf_lttng_client *client)
{
    bool any = false;

    for (size_t i = 0; i < client->config.n_loggers; i++) {
        struct bbf_lttng_levels levels = levels_of(client, client->config.loggers[i]);
        uint64_t packed = pack(levels);
        uint64_t before =
            atomic_exchange_explicit(&client->levels[i], packed, memory_order_relaxed);
        any = any || (levels.least <= levels.most && packed != before);
    }
    for (size_t i = 0; i < BBF_LTTNG_DAEMONS; i++) {
        const struct bbf_lttng_link *link = &client->links[i];
        bool is_known = link->state.is_registered || link->state.version == BBF_LTTNG_0_1;
        atomic_store_explicit(&client->ports[i],
                              link->phase == BBF_LTTNG_OPEN && is_known ? link->port : 0,
                              memory_order_relaxed);
    }
    if (any && client->config.enabled != NULL)
        client->config.enabled();
}

/* ---- the thread ---- */

static int wait_ms(const struct bbf_lttng_client *client, int64_t now_ms)
{
    int64_t due_ms = now_ms + WAIT_MOST_MS;

    for (size_t i = 0; i < BBF_LTTNG_DAEMONS; i++)
        if (client->links[i].due_ms < due_ms)
            due_ms = client->links[i].due_ms;
    return due_ms > now_ms ? (int)(due_ms - now_ms) : 0;
}

/* Where both files name one daemon, the link to root's has it. */
static void work(struct bbf_lttng_client *client, const struct pollfd *polls)
{
    struct bbf_lttng_link *root = &client->links[BBF_LTTNG_ROOT];
    struct bbf_lttng_link *user = &client->links[BBF_LTTNG_USER];
    int64_t now_ms = bbf_monotonic_ms();

    bbf_lttng_link_work(root, polls[BBF_LTTNG_ROOT].revents, now_ms, 0);
    if (root->port != 0 && root->port == user->port)
        bbf_lttng_link_end(user, now_ms, NULL);
    else
        bbf_lttng_link_work(user, polls[BBF_LTTNG_USER].revents, now_ms, root->port);
}

static void *run(void *arg)
{
    struct bbf_lttng_client *client = arg;
    struct pollfd polls[POLLS];

    (void)pthread_setname_np(pthread_self(), "bbflow-lttng");
    for (;;) {
        for (size_t i = 0; i < BBF_LTTNG_DAEMONS; i++)
            polls[i] = bbf_lttng_link_poll(&client->links[i]);
        polls[POLLS - 1] = (struct pollfd){.fd = client->stop_fd, .events = POLLIN};
        int ready = poll(polls, POLLS, wait_ms(client, bbf_monotonic_ms()));
        if (ready < 0 && errno != EINTR) /* no memory in the kernel: try again, and do not spin */
            nanosleep(&(struct timespec){.tv_nsec = PAUSE_MS * 1000000L}, NULL);
        if (ready < 0)
            continue;
        if (polls[POLLS - 1].revents != 0)
            return NULL;
        work(client, polls);
        publish(client);
    }
}

/* ---- start and stop ---- */

static void init_links(struct bbf_lttng_client *client)
{
    const struct bbf_lttng_config *config = &client->config;
    const struct bbf_lttng_state state = {.version = config->version,
                                          .loggers = config->loggers,
                                          .n_loggers = config->n_loggers,
                                          .enabled = BBF_LTTNG_ENABLED_INIT};

    for (int i = 0; i < BBF_LTTNG_DAEMONS; i++) {
        struct bbf_lttng_link *link = &client->links[i];
        (void)bbf_lttng_link_init(link, (enum bbf_lttng_daemon)i, config->pid, &state);
        link->may_switch = config->may_switch;
        if (!config->daemons[i])
            link->due_ms = INT64_MAX;
    }
}

static void free_client(struct bbf_lttng_client *client)
{
    for (size_t i = 0; i < BBF_LTTNG_DAEMONS; i++)
        bbf_lttng_link_free(&client->links[i]);
    close(client->stop_fd);
    free(client);
}

int bbf_lttng_start(struct bbf_lttng_client **out, const struct bbf_lttng_config *config)
{
    *out = NULL;
    if (config->n_loggers > BBF_LTTNG_LOGGERS_MAX)
        return BBF_EINVAL;
    struct bbf_lttng_client *client = calloc(1, sizeof *client);
    if (client == NULL)
        return BBF_ENOMEM;
    client->config = *config;
    for (size_t i = 0; i < BBF_LTTNG_LOGGERS_MAX; i++)
        atomic_init(&client->levels[i], pack(BBF_LTTNG_NO_LEVELS));
    init_links(client);
    client->stop_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    int err = client->stop_fd >= 0 ? bbf_spawn(&client->thread, STACK_BYTES, run, client) : BBF_EIO;
    if (err != BBF_OK)
        free_client(client);
    else
        *out = client;
    return err;
}

void bbf_lttng_stop(struct bbf_lttng_client *client)
{
    uint64_t one = 1;

    if (client == NULL)
        return;
    while (write(client->stop_fd, &one, sizeof one) < 0 && errno == EINTR)
        continue;
    pthread_join(client->thread, NULL);
    free_client(client);
}
