/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/commands/port.h"

#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "agent/commands/discovery.h"
#include "agent/state.h"
#include "core/err.h"
#include "core/log.h"

static struct bbf_token token;
static bool has_token;
static bool given; /* the token's file, by the JVM's property */
static bool tcp;   /* the server was asked to serve it */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of what follows: VMDeath closes too */
static uint16_t served;                                  /* the port; 0 = none */
static char not_served[600];                             /* why there is none */

/* Option auth. False: no TCP, and why is logged. */
static bool get_token(JNIEnv *env)
{
    const char *auth = bbf_agent.options.auth != NULL ? bbf_agent.options.auth : "on";
    char why[PATH_MAX + 100] = "", dir[PATH_MAX - 64], file[PATH_MAX];

    if (strcmp(auth, "off") == 0) {
        bbf_log(BBF_LOG_WARN,
                "auth=off: every user of this host may connect to port %llu and see what leaks",
                (unsigned long long)bbf_agent.options.port);
        return true;
    }
    int err;
    given = strcmp(auth, "on") == 0 && bbf_discovery_token_file(env, file, sizeof file);
    if (given)
        auth = file;
    if (strcmp(auth, "on") == 0) {
        bbf_discovery_tmpdir(env, dir, sizeof dir);
        err = bbf_token_make(&token, dir, why, sizeof why);
    } else {
        err = bbf_token_open(&token, auth, why, sizeof why);
    }
    has_token = err == BBF_OK;
    if (err != BBF_OK)
        snprintf(not_served, sizeof not_served, "auth=%.80s fails: %.500s", auth, why);
    if (err != BBF_OK)
        bbf_log(BBF_LOG_ERROR, "port: not served, because auth=%s fails: %s", auth, why);
    return has_token;
}

static void drop_token(void)
{
    if (has_token)
        bbf_token_remove(&token);
    has_token = false;
}

void bbf_port_open(JNIEnv *env, struct bbf_server_config *config)
{
    tcp = bbf_agent.options.port != BBF_PORT_OFF && get_token(env);
    if (tcp)
        not_served[0] = '\0';
    config->tcp = tcp;
    config->port = (uint16_t)bbf_agent.options.port;
    config->token = has_token ? &token : NULL;
}

void bbf_port_opened(JNIEnv *env, uint16_t port, const char *why)
{
    bbf_token_wipe(&token);
    if (port == 0) {
        drop_token();
    } else {
        bbf_discovery_set(env, port, has_token ? token.path : NULL);
        bbf_log(BBF_LOG_INFO, "serving 127.0.0.1:%u", (unsigned)port);
    }
    pthread_mutex_lock(&lock);
    served = port;
    if (tcp && port == 0)
        snprintf(not_served, sizeof not_served, "%.500s", why);
    pthread_mutex_unlock(&lock);
}

void bbf_port_close(JNIEnv *env)
{
    pthread_mutex_lock(&lock);
    bool clear = served != 0 && env != NULL;
    served = 0;
    pthread_mutex_unlock(&lock);
    drop_token();
    if (clear)
        bbf_discovery_clear(env, given);
}

bool bbf_port_served(uint16_t *port, char *why, size_t why_size)
{
    pthread_mutex_lock(&lock);
    *port = served;
    snprintf(why, why_size, "%s", not_served);
    pthread_mutex_unlock(&lock);
    return bbf_agent.options.port != BBF_PORT_OFF;
}
