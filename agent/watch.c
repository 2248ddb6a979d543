#include "agent/watch.h"

#include <string.h>
#include <time.h>

#include "agent/serve.h"
#include "agent/state.h"
#include "core/buf.h"

enum { LINES = 50, STEPS = 64, LINE_BYTES = 1000 };

static uint32_t seen;   /* tombs */
static uint64_t unsaid; /* places of this second that had no line */
static unsigned said;   /* lines of this second */
static time_t second;

static const char *memory_name(uint8_t memory)
{
    static const char *const names[] = {"direct", "heap", "composite"};

    return memory < sizeof names / sizeof names[0] ? names[memory] : "unknown";
}

static void add_site(struct bbf_buf *out, uint32_t id)
{
    const struct bbf_site *site = bbf_site_get(bbf_agent.tracker, id);

    if (site == NULL) {
        bbf_buf_char(out, '?');
        return;
    }
    const char *simple = strrchr(site->class_name, '.');
    simple = simple != NULL ? simple + 1 : site->class_name;
    bbf_buf_printf(out, "%s%s%s", simple, *simple != '\0' && site->method[0] != '\0' ? "." : "",
                   site->method);
}

/* Root to losing step; of a long path its end, which is where the fix belongs. */
static void add_path(struct bbf_buf *out, uint32_t node)
{
    uint32_t steps[STEPS];
    size_t n = 0, bytes = 0;

    for (; node != BBF_L_NODE_NONE && n < STEPS && bytes < LINE_BYTES / 2; n++) {
        const struct bbf_node *at = bbf_node_at(bbf_agent.tracker, node);
        const struct bbf_site *site = bbf_site_get(bbf_agent.tracker, at->site);
        steps[n] = at->site;
        bytes += site != NULL ? strlen(site->method) + 24 : 1;
        node = at->parent;
    }
    if (node != BBF_L_NODE_NONE)
        bbf_buf_str(out, "… → ");
    while (n-- > 0) {
        add_site(out, steps[n]);
        bbf_buf_str(out, n > 0 ? " → " : "\n");
    }
}

static void publish(const struct bbf_tomb *tomb)
{
    struct bbf_buf line = BBF_BUF_INIT;

    bbf_buf_printf(&line, "LEAK %s, %llu of %llu bytes: ", memory_name(tomb->memory),
                   (unsigned long long)tomb->count, (unsigned long long)tomb->bytes);
    add_path(&line, tomb->node);
    if (!line.failed)
        bbf_serve_publish(line.data, line.len);
    bbf_buf_free(&line);
}

static void publish_unsaid(void)
{
    struct bbf_buf line = BBF_BUF_INIT;

    bbf_buf_printf(&line, "… and %llu more places that leak\n", (unsigned long long)unsaid);
    if (!line.failed)
        bbf_serve_publish(line.data, line.len);
    bbf_buf_free(&line);
    unsaid = 0;
}

void bbf_watch_look(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
    if (now.tv_sec != second) {
        second = now.tv_sec;
        said = 0;
        if (unsaid > 0)
            publish_unsaid();
    }
    if (bbf_agent.tracker->n_tombs < seen) /* a reset that nobody told of */
        bbf_watch_reset();
    while (seen < bbf_agent.tracker->n_tombs) {
        const struct bbf_tomb *tomb = bbf_tomb_at(bbf_agent.tracker, ++seen);
        if (tomb->end != BBF_END_LEAKED || tomb->count == 0)
            continue;
        if (said < LINES) {
            said++;
            publish(tomb);
        } else {
            unsaid++;
        }
    }
}

void bbf_watch_reset(void)
{
    seen = 0;
    unsaid = 0;
    bbf_serve_unpublish();
}
