/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/stream.h"

#include <pthread.h>

#include "agent/state.h"
#include "wire/server/server.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void bbf_stream_open(struct bbf_server *server)
{
    pthread_mutex_lock(&lock);
    bbf_agent.server = server;
    pthread_mutex_unlock(&lock);
}

struct bbf_server *bbf_stream_close(void)
{
    pthread_mutex_lock(&lock);
    struct bbf_server *server = bbf_agent.server;
    bbf_agent.server = NULL;
    pthread_mutex_unlock(&lock);
    return server;
}

bool bbf_stream_publish(const char *text, size_t len)
{
    pthread_mutex_lock(&lock);
    bool done = bbf_agent.server == NULL || bbf_server_publish(bbf_agent.server, text, len);
    pthread_mutex_unlock(&lock);
    return done;
}

void bbf_stream_unpublish(void)
{
    pthread_mutex_lock(&lock);
    if (bbf_agent.server != NULL)
        bbf_server_unpublish(bbf_agent.server);
    pthread_mutex_unlock(&lock);
}

uint64_t bbf_stream_published(void)
{
    pthread_mutex_lock(&lock);
    uint64_t place = bbf_agent.server != NULL ? bbf_server_published(bbf_agent.server) : 0;
    pthread_mutex_unlock(&lock);
    return place;
}

bool bbf_stream_is_watched(void)
{
    pthread_mutex_lock(&lock);
    bool watched = bbf_agent.server != NULL && bbf_server_watchers(bbf_agent.server) > 0;
    pthread_mutex_unlock(&lock);
    return watched;
}

uint64_t bbf_stream_cpu_ns(void)
{
    struct bbf_server_stats stats = {.cpu_ns = 0};
    pthread_mutex_lock(&lock);
    if (bbf_agent.server != NULL)
        bbf_server_get_stats(bbf_agent.server, &stats);
    pthread_mutex_unlock(&lock);
    return stats.cpu_ns;
}
