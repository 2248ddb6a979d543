/*
 * tests/cli/fake_agent.c - the agent's end of the wire without a JVM: the real server
 * (wire/server/server.h) and the real option table, with a snapshot from a file. Its arguments are
 * never looked at, so that a test can give it any command line (exec -a java … com.app.Main).
 *
 *   FAKE_JSON     the document that `json` answers
 *   FAKE_SOCKETS  folder for the socket (option socket=); unset: the usual places
 *   FAKE_LOG      every event is appended there, one a line
 *   FAKE_MAP      files to map, as "a:b": libjvm.so makes this process look like a JVM
 *   FAKE_MUTE     no server at all
 *
 * Prints "ready" when it answers; ends by SIGTERM.
 */
#include "core/buf.h"
#include "core/err.h"
#include "core/option.h"
#include "wire/server/server.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static struct bbf_options options;

static void log_event(const char *name)
{
    const char *path = getenv("FAKE_LOG");
    FILE *log = path != NULL ? fopen(path, "ae") : NULL;
    if (log == NULL)
        return;
    fprintf(log, "%s\n", name);
    fclose(log);
}

static void reply_json(struct bbf_reply *reply)
{
    struct bbf_buf text = BBF_BUF_INIT;
    const char *path = getenv("FAKE_JSON");
    FILE *file = path != NULL ? fopen(path, "re") : NULL;

    if (file == NULL) {
        bbf_reply_error(reply, "tracking is off: 3 internal errors");
        return;
    }
    for (int c; (c = fgetc(file)) != EOF;)
        bbf_buf_char(&text, (char)c);
    fclose(file);
    bbf_reply_document(reply, text.data, text.len);
    bbf_buf_free(&text);
}

static void reply_event(void *ctx, const char *name, struct bbf_reply *reply)
{
    (void)ctx;
    log_event(name);
    char text[256];
    if (strncmp(name, "json", 4) == 0) {
        reply_json(reply);
    } else if (strncmp(name, "status", 6) == 0 || strncmp(name, "reset", 5) == 0) {
        int len = snprintf(text, sizeof text, "fake answer to %s", name);
        bbf_reply_text(reply, text, (size_t)len);
    } else {
        bbf_reply_error(reply, "unknown event");
    }
}

static int reply_set(void *ctx, const struct bbf_entry *params, size_t n, struct bbf_buf *answer)
{
    struct bbf_options next;
    struct bbf_option_error error;
    (void)ctx;

    if (bbf_options_copy(&next, &options) != BBF_OK)
        return BBF_ENOMEM;
    for (size_t i = 0; i < n; i++) {
        unsigned effect = 0;
        bool changed = false;
        const char *value = params[i].value.text.s != NULL ? params[i].value.text.s : "";
        int rc = bbf_options_set(&next, params[i].key.s, value, &effect, &changed, &error);
        if (rc != BBF_OK) {
            answer->len = 0;
            bbf_buf_str(answer, error.at.text);
            bbf_options_free(&next);
            return rc;
        }
        bbf_buf_printf(answer, "%s=%s%s\n", params[i].key.s, value, changed ? "" : " (no change)");
    }
    bbf_options_free(&options);
    options = next;
    return BBF_OK;
}

static int map_files(const char *paths)
{
    char *copy = strdup(paths), *rest = NULL;
    for (char *path = strtok_r(copy, ":", &rest); path != NULL; path = strtok_r(NULL, ":", &rest)) {
        int fd = open(path, O_RDONLY | O_CLOEXEC);
        if (fd < 0 || mmap(NULL, 1, PROT_READ, MAP_PRIVATE, fd, 0) == MAP_FAILED) {
            perror(path);
            return -1;
        }
        close(fd);
    }
    free(copy);
    return 0;
}

int main(void)
{
    struct bbf_server *server = NULL;
    struct bbf_server_config config = {
        .socket_dir = getenv("FAKE_SOCKETS"),
        .pid = getpid(),
        .max_clients = 16,
        .probe_id = "3f2504e0-4f89-41d3-9a0c-0305e82c3301",
        .event = reply_event,
        .set = reply_set,
    };
    char why[512];
    sigset_t end;
    int signal_number;

    sigemptyset(&end);
    sigaddset(&end, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &end, NULL);
    bbf_options_init(&options);
    if (getenv("FAKE_MAP") != NULL && map_files(getenv("FAKE_MAP")) != 0)
        return 1;
    if (getenv("FAKE_MUTE") == NULL &&
        bbf_server_start(&server, &config, why, sizeof why) != BBF_OK) {
        fprintf(stderr, "fake_agent: %s\n", why);
        return 1;
    }
    puts("ready");
    fflush(stdout);
    sigwait(&end, &signal_number);
    if (server != NULL)
        bbf_server_stop(server, 2000);
    bbf_options_free(&options);
    return 0;
}
