/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/commands/endpoint.h"

#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

#include "agent/commands/event_command.h"
#include "agent/commands/port.h"
#include "agent/commands/set.h"
#include "agent/state.h"
#include "agent/stream.h"
#include "core/err.h"
#include "core/log.h"

static void make_uuid(char out[37])
{
    uint8_t b[16];
    FILE *random = fopen("/dev/urandom", "re");
    if (random == NULL || fread(b, 1, sizeof b, random) != sizeof b)
        for (size_t i = 0; i < sizeof b; i++) /* an identity, no secret: the clock will do */
            b[i] =
                (uint8_t)(bbf_agent.started.tv_nsec >> (i % 4 * 8)) ^ (uint8_t)(getpid() + (int)i);
    if (random != NULL)
        fclose(random);
    b[6] = (uint8_t)((b[6] & 0x0f) | 0x40); /* RFC 4122, version 4 */
    b[8] = (uint8_t)((b[8] & 0x3f) | 0x80);
    for (int i = 0, at = 0; i < 16; i++) {
        if (i == 4 || i == 6 || i == 8 || i == 10)
            out[at++] = '-';
        at += snprintf(out + at, 3, "%02x", b[i]);
    }
}

static void in_forked_child(void)
{
    if (bbf_agent.server != NULL)
        bbf_server_forget(bbf_agent.server);
    bbf_agent.server = NULL;
}

/* Once: a child of this process has no server. */
static void mind_forks(void)
{
    static bool done;
    if (!done)
        pthread_atfork(NULL, NULL, in_forked_child);
    done = true;
}

void bbf_endpoint_start(JNIEnv *env)
{
    char why[600] = "";
    mind_forks();
    make_uuid(bbf_agent.uuid);
    struct bbf_server_config config = {
        .socket_dir = bbf_agent.options.socket,
        .pid = getpid(),
        .max_clients = (size_t)bbf_agent.options.max_clients,
        .max_waiting = (size_t)bbf_agent.options.max_waiting,
        .auth_ms = (unsigned)bbf_agent.options.auth_seconds * 1000,
        .queue = (size_t)bbf_agent.options.queue,
        .probe_id = bbf_agent.uuid,
        .event = bbf_events_reply,
        .begin = bbf_events_begin,
        .set = bbf_set,
    };
    struct bbf_server *server = NULL;
    bbf_port_open(env, &config);
    int err = bbf_server_start(&server, &config, why, sizeof why);
    if (err != BBF_OK)
        bbf_log(BBF_LOG_ERROR, "no socket, so no client can ask this JVM: %s", why);
    else if (why[0] != '\0')
        bbf_log(BBF_LOG_ERROR, "not served everywhere: %s", why);
    bbf_port_opened(env, err == BBF_OK ? bbf_server_port(server) : 0, why);
    bbf_stream_open(server);
}

void bbf_endpoint_stop(JNIEnv *env, unsigned timeout_ms)
{
    struct bbf_server *server = bbf_stream_close();
    bbf_port_close(env);
    if (server != NULL)
        bbf_server_stop(server, timeout_ms);
}
