/* SPDX-License-Identifier: Apache-2.0 */
#include "client/agent_answer.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "client/attach_facts.h"
#include "client/proc.h"
#include "core/buf.h"
#include "core/err.h"
#include "wire/client/conn.h"

enum { ASK_MS = 5000, STATUS_MOST = 16 << 20 };

/* ---- The text of a status -------------------------------------------------------------------- */

/* What follows `name` and blanks on the line; NULL: it begins otherwise. */
static const char *after(const char *line, const char *name)
{
    size_t len = strlen(name);
    return strncmp(line, name, len) == 0 && line[len] == ' ' ? line + len + strspn(line + len, " ")
                                                             : NULL;
}

/* "  maxNodes         17 / 1000000, 3": a row of the limits. */
static void take_limit(struct bbf_agent_answer *answer, const char *line)
{
    char name[64], text[256];
    uint64_t used, limit, hit;

    if (sscanf(line, " %63s %" SCNu64 " / %" SCNu64 ", %" SCNu64, name, &used, &limit, &hit) != 4 ||
        hit == 0)
        return;
    int n = snprintf(text, sizeof text, "%s: %" PRIu64 " of %" PRIu64 ", reached %" PRIu64 " times",
                     name, used, limit, hit);
    bbf_words_add(&answer->limits, text, (size_t)n);
}

/* A line of the section `section`, which is the last line that is not indented. */
static void take_row(struct bbf_agent_answer *answer, const char *section, const char *line)
{
    if (strcmp(section, "settings") == 0)
        bbf_words_add(&answer->settings, line + 2, strcspn(line + 2, " "));
    else if (strcmp(section, "limits") == 0)
        take_limit(answer, line);
    else if (strcmp(section, "totals") == 0 && after(line + 2, "lives") != NULL) {
        answer->has_lives = true;
        answer->lives = strtoull(after(line + 2, "lives"), NULL, 10);
    }
}

static void take_line(struct bbf_agent_answer *answer, char *section, size_t size, const char *line)
{
    const char *text;

    if (line[0] == ' ' && line[1] == ' ') {
        take_row(answer, section, line);
        return;
    }
    snprintf(section, size, "%.*s", (int)strcspn(line, " "), line);
    if ((text = after(line, "netty")) != NULL)
        bbf_words_add(&answer->netty, text, strlen(text));
    else if ((text = after(line, "note")) != NULL)
        bbf_words_add(&answer->notes, text, strlen(text));
    else if ((text = after(line, "not tested")) != NULL)
        bbf_words_add(&answer->notes, line, strlen(line));
}

bool bbf_agent_read_status(struct bbf_agent_answer *answer, const char *text)
{
    char section[32] = "", *line = NULL;
    const char *in_jvm = strstr(text, " in JVM ");

    if (strncmp(text, "bbflow ", 7) != 0 || in_jvm == NULL || strchr(text, '\n') < in_jvm)
        return false;
    snprintf(answer->version, sizeof answer->version, "%.*s", (int)(in_jvm - text - 7), text + 7);
    for (const char *at = text; *at != '\0'; at += strspn(at, "\n")) {
        size_t len = strcspn(at, "\n");
        line = strndup(at, len);
        if (line == NULL)
            return false;
        take_line(answer, section, sizeof section, line);
        free(line);
        at += len;
    }
    return true;
}

const char *bbf_agent_setting(const struct bbf_agent_answer *answer, const char *name)
{
    char start[64];
    snprintf(start, sizeof start, "%s=", name);
    return bbf_words_last(&answer->settings, start);
}

/* ---- Its socket ------------------------------------------------------------------------------ */

static int ask(struct bbf_agent_answer *answer, const char *path, pid_t pid, unsigned timeout_ms)
{
    struct bbf_buf text = BBF_BUF_INIT;
    struct bbf_conn *conn = NULL;
    struct bbf_conn_config config = {.path = path,
                                     .protocol = BBF_PROTOCOL_2,
                                     .timeout_ms = timeout_ms != 0 ? timeout_ms : ASK_MS,
                                     .max_answer = STATUS_MOST};
    int rc = bbf_conn_open(&conn, &config, answer->why, sizeof answer->why);

    /* The kernel names who listens: a socket at that path may be another process's. */
    if (rc == BBF_OK && bbf_conn_pid(conn) != pid)
        rc = BBF_ENOTFOUND;
    if (rc == BBF_OK)
        rc = bbf_conn_event(conn, "status", &text, answer->why, sizeof answer->why);
    if (rc == BBF_OK && !bbf_agent_read_status(answer, bbf_buf_cstr(&text)))
        snprintf(answer->why, sizeof answer->why, "its status cannot be read");
    else if (rc == BBF_OK)
        answer->answered = true;
    else if (answer->why[0] == '\0')
        snprintf(answer->why, sizeof answer->why, "%s", bbf_strerror(rc));
    bbf_conn_close(conn);
    bbf_buf_free(&text);
    return rc;
}

/* Is the socket's name that of this JVM's agent: FOLDER/bbflow-UID/PID.sock, of its own pid? */
static bool is_agents(const char *path, pid_t inner)
{
    char end[32];
    size_t len = strlen(path);
    int n = snprintf(end, sizeof end, "/%ld.sock", (long)inner);
    return path[0] == '/' && strstr(path, "/bbflow-") != NULL && len > (size_t)n &&
           strcmp(path + len - (size_t)n, end) == 0;
}

static bool in_folder(const char *path, const char *folder)
{
    size_t len = strlen(folder);
    while (len > 1 && folder[len - 1] == '/')
        len--;
    return strncmp(path, folder, len) == 0 && path[len] == '/';
}

/* Ask at `path`, which is a path of the JVM's: in our files, or below its root if those differ. */
static void try_socket(struct bbf_agent_answer *answer, pid_t pid, const char *path,
                       unsigned timeout_ms)
{
    char file[sizeof answer->socket + 64];
    struct stat its, own;

    snprintf(file, sizeof file, "/proc/%ld/root%s", (long)pid, path);
    if (lstat(path, &own) == 0 && lstat(file, &its) == 0 && own.st_dev == its.st_dev &&
        own.st_ino == its.st_ino)
        snprintf(file, sizeof file, "%s", path);
    snprintf(answer->socket, sizeof answer->socket, "%s", path);
    (void)ask(answer, file, pid, timeout_ms);
}

void bbf_agent_ask(struct bbf_agent_answer *answer, pid_t pid, const char *socket_dir,
                   unsigned timeout_ms)
{
    char path[64], text[8192], *line = NULL;
    unsigned long long inner = (unsigned long long)pid;
    size_t cap = 0;

    snprintf(answer->why, sizeof answer->why, "no socket of it was found");
    if (bbf_proc_read(pid, "status", text, sizeof text) > 0) {
        struct bbf_attach_status status;
        if (bbf_attach_read_status(text, &status))
            inner = (unsigned long long)status.inner;
    }
    /* The kernel's list of the sockets in its network namespace: bbf_conn_discover() would remove
     * those that dead processes left. */
    snprintf(path, sizeof path, "/proc/%ld/net/unix", (long)pid);
    FILE *sockets = fopen(path, "re");
    while (sockets != NULL && !answer->answered && getline(&line, &cap, sockets) > 0) {
        char *at = strchr(line, '/');
        line[strcspn(line, "\n")] = '\0';
        if (at != NULL && strlen(at) < sizeof answer->socket && is_agents(at, (pid_t)inner) &&
            (socket_dir == NULL || in_folder(at, socket_dir)))
            try_socket(answer, pid, at, timeout_ms);
    }
    free(line);
    if (sockets != NULL)
        fclose(sockets);
}

void bbf_agent_answer_free(struct bbf_agent_answer *answer)
{
    bbf_words_free(&answer->netty);
    bbf_words_free(&answer->notes);
    bbf_words_free(&answer->settings);
    bbf_words_free(&answer->limits);
}
