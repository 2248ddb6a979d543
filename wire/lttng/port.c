/* SPDX-License-Identifier: Apache-2.0 */
#include "wire/lttng/port.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define ROOT_FILE "/var/run/lttng/agent.port"

const char *bbf_lttng_daemon_name(enum bbf_lttng_daemon daemon)
{
    return daemon == BBF_LTTNG_ROOT ? "root" : "user";
}

static bool is_given(const char *text)
{
    return text != NULL && text[0] != '\0';
}

bool bbf_lttng_port_path(enum bbf_lttng_daemon daemon, char path[PATH_MAX])
{
    const char *app = getenv("LTTNG_UST_APP_PATH"), *home = getenv("LTTNG_HOME");
    int len;

    if (is_given(app))
        len = daemon == BBF_LTTNG_ROOT
                  ? -1
                  : snprintf(path, PATH_MAX, "%.*s/agent.port", (int)strcspn(app, ":"), app);
    else if (daemon == BBF_LTTNG_ROOT)
        len = snprintf(path, PATH_MAX, "%s", ROOT_FILE);
    else if (is_given(home) || is_given(home = getenv("HOME")))
        len = snprintf(path, PATH_MAX, "%s/.lttng/agent.port", home);
    else
        len = -1;
    return len > 0 && len < PATH_MAX;
}

/* Digits, and at most one line end after them. */
static uint16_t parse(const char *text)
{
    unsigned long port = 0;
    const char *at = text;

    for (; *at >= '0' && *at <= '9' && port <= UINT16_MAX; at++)
        port = port * 10 + (unsigned long)(*at - '0');
    if (at == text || (strcmp(at, "") != 0 && strcmp(at, "\n") != 0) || port > UINT16_MAX)
        return 0;
    return (uint16_t)port;
}

uint16_t bbf_lttng_port_read(const char *path)
{
    struct stat st;
    char text[16];
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);

    if (fd < 0)
        return 0;
    ssize_t len = fstat(fd, &st) == 0 && S_ISREG(st.st_mode) ? read(fd, text, sizeof text - 1) : -1;
    close(fd);
    if (len <= 0)
        return 0;
    text[len] = '\0';
    return strlen(text) == (size_t)len ? parse(text) : 0;
}
