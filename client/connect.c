/* SPDX-License-Identifier: Apache-2.0 */
#include "client/connect.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "client/proc.h"
#include "client/progress.h"
#include "client/target.h"
#include "client/token.h"
#include "core/err.h"

enum {
    WAIT_MS = 60000, /* for each answer: a report waits for a scan, --gc for a collection */
    HOST_MAX = 256,
    STOPPED_MS = 100,
    WHY_MAX = 512
};

bool bbf_is_remote(const char *target, char *host, size_t host_size, const char **port)
{
    const char *colon = strrchr(target, ':');
    size_t len = colon != NULL ? (size_t)(colon - target) : 0;

    if (len == 0 || colon[1] == '\0' || strlen(colon + 1) > 5 ||
        colon[1 + strspn(colon + 1, "0123456789")] != '\0' || atoi(colon + 1) > 65535)
        return false;
    bool brackets = target[0] == '[' && target[len - 1] == ']' && len > 2;
    if (!brackets && memchr(target, ':', len) != NULL)
        return false; /* an IPv6 address: it is unclear which colon begins the port */
    if (host != NULL && len < host_size) {
        snprintf(host, host_size, "%.*s", (int)(brackets ? len - 2 : len),
                 target + (brackets ? 1 : 0));
        *port = colon + 1;
    }
    return len < HOST_MAX;
}

/* Read the token of the flag, else of the environment; it may be missing. */
static int find_token(const struct bbf_command_line *request, uint8_t *token, size_t *len)
{
    const char *path = request->token_file;

    *len = 0;
    if (path == NULL)
        path = getenv("BBFLOW_TOKEN_FILE");
    if (path == NULL || *path == '\0')
        return BBF_EXIT_OK;
    return bbf_token_file_read(path, token, len);
}

/* A snapshot of maxNodes= nodes has 194 MB, and each leaking node adds its path once more. All
 * other answers are texts for a person. */
static uint64_t largest(const struct bbf_command_line *request)
{
    static const char *const texts[] = {"list", "status", "set", "reset", "stop"};

    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        if (strcmp(request->verb, texts[i]) == 0)
            return (uint64_t)16 << 20;
    return (uint64_t)1 << 30;
}

static int open_conn(const struct bbf_command_line *request, struct bbf_conn_config *config,
                     const char *who, struct bbf_conn **conn)
{
    char why[WHY_MAX] = "";

    bbf_progress_stage("waiting for %s", who);
    config->arrived = bbf_progress_add;
    config->timeout_ms = request->timeout_ms > 0 ? request->timeout_ms : WAIT_MS;
    config->token_anywhere = request->remote_token;
    config->compress = request->compress;
    config->max_answer = request->max_document > 0 ? request->max_document : largest(request);
    int rc = bbf_conn_open(conn, config, why, sizeof why);
    return rc == BBF_OK ? BBF_EXIT_OK : bbf_fail(bbf_exit_of(rc), "%s: %s", who, why);
}

static int connect_remote(const struct bbf_command_line *request, struct bbf_conn **conn,
                          char who[BBF_WHO])
{
    struct bbf_conn_config config = {.protocol = (enum bbf_protocol)request->protocol};
    uint8_t token[BBF_TOKEN_FILE_MAX];
    char host[HOST_MAX];

    snprintf(who, BBF_WHO, "%s", request->target);
    (void)bbf_is_remote(request->target, host, sizeof host, &config.port);
    config.host = host;
    int rc = find_token(request, token, &config.token_len);
    if (rc != BBF_EXIT_OK)
        return rc;
    config.token = config.token_len > 0 ? token : NULL;
    rc = open_conn(request, &config, who, conn);
    explicit_bzero(token, sizeof token);
    return rc;
}

int bbf_fail_if_stopped(pid_t pid, const char *who)
{
    /* Test twice, because a debugger or strace may stop it only for a moment. */
    if (pid == 0 || !bbf_proc_is_stopped(pid))
        return BBF_EXIT_OK;
    struct timespec rest = {.tv_nsec = STOPPED_MS * 1000000L};
    while (nanosleep(&rest, &rest) != 0 && errno == EINTR)
        ;
    if (!bbf_proc_is_stopped(pid))
        return BBF_EXIT_OK;
    return bbf_fail(
        BBF_EXIT_FAILED,
        "%s is stopped, by SIGSTOP or a debugger, and answers nothing; 'kill -CONT %ld' "
        "or the debugger resumes it",
        who, (long)pid);
}

int bbf_fail_asking(const struct bbf_conn *conn, const char *who, int err, const char *what,
                    const char *why)
{
    int exit_code = BBF_EXIT_OK;

    if (err == BBF_ETIMEOUT)
        exit_code = bbf_fail_if_stopped(bbf_conn_pid(conn), who);
    if (exit_code != BBF_EXIT_OK)
        return exit_code;
    return bbf_fail(bbf_exit_of(err), "%s%s: %s", who, what,
                    why[0] != '\0' ? why : bbf_strerror(err));
}

int bbf_connect(const struct bbf_command_line *request, struct bbf_conn **conn, char who[BBF_WHO])
{
    struct bbf_agents agents;
    int exit_code = BBF_EXIT_OK;

    if (request->target != NULL && bbf_target_is_file(request->target))
        return bbf_fail(BBF_EXIT_USAGE, "'%s' asks a running JVM, and %s is a file; %s",
                        request->verb, request->target,
                        "name the JVM by its pid or main class ('bbflow list' shows them)");
    if (request->target != NULL && bbf_is_remote(request->target, NULL, 0, NULL))
        return connect_remote(request, conn, who);
    bbf_agents_find(&agents, request->socket);
    const struct bbf_target *agent = bbf_target_choose(&agents, request, &exit_code);
    if (agent != NULL) {
        /* An agent's own socket always speaks v2, so there is no second try. */
        struct bbf_conn_config config = {.path = agent->path,
                                         .protocol = request->protocol == 1 ? BBF_PROTOCOL_1
                                                                            : BBF_PROTOCOL_2};
        bbf_agent_text(agent, who, BBF_WHO);
        exit_code = bbf_fail_if_stopped(agent->pid, who);
        if (exit_code == BBF_EXIT_OK)
            exit_code = open_conn(request, &config, who, conn);
    }
    bbf_agents_free(&agents);
    return exit_code;
}
