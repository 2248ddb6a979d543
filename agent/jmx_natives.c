/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/jmx_natives.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "agent/commands/event_command.h"
#include "agent/jmx_link.h"
#include "agent/report/ask.h"
#include "agent/report/file.h"
#include "agent/report/status.h"
#include "agent/rules.h"
#include "agent/state.h"
#include "agent/thread.h"
#include "core/err.h"
#include "core/safe.h"
#include "render/render.h"
#include "render/stock.h"

enum { WAIT_MS = 30000, NAME_SIZE = 64 };

/* The answer: a byte, 0 or 1 (the rest is why there is none), then the text. */
static jbyteArray answer(JNIEnv *env, struct bbf_buf *text, bool good)
{
    const jbyte first = good ? 0 : 1;
    jbyteArray array = text->failed ? NULL : (*env)->NewByteArray(env, (jsize)text->len + 1);
    if (array != NULL) {
        (*env)->SetByteArrayRegion(env, array, 0, 1, &first);
        (*env)->SetByteArrayRegion(env, array, 1, (jsize)text->len, (const jbyte *)text->data);
    }
    bbf_buf_free(text);
    return array;
}

/* False: too long, or with a NUL inside. */
static bool copy(JNIEnv *env, jbyteArray from, char *out, size_t size)
{
    jsize len = (*env)->GetArrayLength(env, from);
    if ((size_t)len >= size)
        return false;
    (*env)->GetByteArrayRegion(env, from, 0, len, (jbyte *)out);
    out[len] = '\0';
    return strlen(out) == (size_t)len;
}

/* A format that streams: nothing is kept beyond the limit. */
struct bounded {
    struct bbf_buf *text;
};

static int keep(void *ctx, const char *data, size_t len)
{
    struct bounded *to = ctx;
    if (to->text->len + len > 2 * (size_t)BBF_JMX_TEXT_MAX)
        return BBF_ELIMIT;
    bbf_buf_add(to->text, data, len);
    return to->text->failed ? BBF_ENOMEM : BBF_OK;
}

static int render(struct bbf_buf *text, const struct bbf_snapshot *snapshot, enum bbf_format format)
{
    static const struct bbf_render_options options = {.max_lines = 1000};
    struct bounded bounded = {.text = text};
    struct bbf_buf pieces = {.flush = keep, .ctx = &bounded};

    if ((bbf_format_flags(format) & BBF_FORMAT_STREAMS) == 0)
        return bbf_render(text, snapshot, format, &options);
    int err = bbf_render(&pieces, snapshot, format, &options);
    if (err == BBF_OK && !bbf_buf_flush(&pieces))
        err = BBF_ENOMEM;
    if (pieces.failed && text->len + BBF_BUF_PIECE > BBF_JMX_TEXT_MAX)
        err = BBF_ELIMIT;
    bbf_buf_free(&pieces);
    return err;
}

/* Cut a text for people; a cut document would only fail in the program that reads it. */
static int bound(struct bbf_buf *text, bool for_people)
{
    size_t len = text->len, at = BBF_JMX_TEXT_MAX;
    if (text->failed || len <= at)
        return BBF_OK;
    if (!for_people)
        return BBF_ELIMIT;
    while (at > 0 && text->data[at - 1] != '\n')
        at--;
    text->len = at;
    bbf_buf_printf(text,
                   "[cut: the first %zu of %zu bytes; exportToFile and 'bbflow dump' have all]\n",
                   at, len);
    return BBF_OK;
}

/* "tree llm …" */
static void add_formats(struct bbf_buf *text)
{
    static const struct {
        const char *name;
        unsigned flags;
    } formats[] = {
#define XX(id, name, extension, flags) {#name, flags},
        BBF_FORMATS(XX)
#undef XX
    };
    for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++)
        if ((formats[i].flags & BBF_FORMAT_BINARY) == 0)
            bbf_buf_printf(text, "%s%s", text->len > 0 ? " " : "", formats[i].name);
}

static int make(struct bbf_buf *text, const struct bbf_snapshot *snapshot, const char *name)
{
    enum bbf_format format = BBF_FORMAT_TREE;
    bool for_people = true;
    int err = BBF_OK;

    if (strcmp(name, "status") == 0) {
        bbf_report_status(text, snapshot);
    } else if (strcmp(name, "nodes") == 0) {
        err = bbf_stock_nodes(text, snapshot);
    } else if (strcmp(name, "compat") == 0) {
        bbf_stock_tracking_status(text, snapshot, time(NULL));
        err = render(text, snapshot, BBF_FORMAT_SUMMARY);
    } else {
        err = bbf_format_of_name(name, &format);
        if (err == BBF_OK && (bbf_format_flags(format) & BBF_FORMAT_BINARY) != 0)
            err = BBF_EINVAL;
        for_people = format == BBF_FORMAT_LLM || (bbf_format_flags(format) & BBF_FORMAT_EXACT) == 0;
        if (err == BBF_OK)
            err = render(text, snapshot, format);
    }
    return err == BBF_OK ? bound(text, for_people) : err;
}

static jbyteArray refuse(JNIEnv *env, struct bbf_buf *text, const char *name, int err)
{
    text->len = 0;
    if (err == BBF_ENOTFOUND || err == BBF_EINVAL)
        bbf_safe_printf(text, BBF_SAFE_VALUE,
                        "no such text format: '%s'; the attribute Formats has them", name);
    else if (err == BBF_ELIMIT)
        bbf_buf_printf(text, "%s: the document is longer than %d bytes; use exportToFile", name,
                       BBF_JMX_TEXT_MAX);
    else
        bbf_event_command_failure(text, name, err);
    return answer(env, text, false);
}

jbyteArray bbf_jmx_report(JNIEnv *env, jbyteArray format, bool gc)
{
    char name[NAME_SIZE] = "";
    struct bbf_buf text = BBF_BUF_INIT;
    int err = BBF_EINVAL;
    if (!copy(env, format, name, sizeof name))
        return refuse(env, &text, "?", BBF_EINVAL);
    if (strcmp(name, "formats") == 0) {
        add_formats(&text);
        return answer(env, &text, true);
    }
    struct bbf_snapshot *snapshot = bbf_ask_snapshot(gc, WAIT_MS, &err);
    if (snapshot != NULL)
        err = make(&text, snapshot, name);
    bbf_snapshot_free(snapshot);
    return err == BBF_OK ? answer(env, &text, true) : refuse(env, &text, name, err);
}

static jbyteArray JNICALL report(JNIEnv *env, jclass class, jbyteArray format, jboolean gc)
{
    (void)class;
    return bbf_jmx_report(env, format, gc == JNI_TRUE);
}

/* An existing file is replaced only if its name is that of a report: a client of JMX must not
 * be able to replace just any file of the user. */
static int choose(const char *path, const char *name, enum bbf_format *format, struct bbf_buf *why)
{
    enum bbf_format of_path;
    bool is_report = bbf_format_of_path(path, &of_path) == BBF_OK;
    int err = name[0] != '\0' ? bbf_format_of_name(name, format)
              : is_report     ? BBF_OK
                              : BBF_ENOTFOUND;
    if (err == BBF_OK && name[0] == '\0')
        *format = of_path;
    if (err != BBF_OK) {
        bbf_safe_printf(why, BBF_SAFE_VALUE,
                        "Unknown format: %s; supported formats: ", name[0] != '\0' ? name : path);
        bbf_buf_str(why, BBF_FORMAT_NAMES);
    } else if (!is_report && access(path, F_OK) == 0) {
        err = BBF_EREFUSED;
        bbf_safe_printf(why, BBF_SAFE_VALUE, "%s exists, and its name has no extension of a report",
                        path);
    }
    return err;
}

static jbyteArray JNICALL export(JNIEnv *env, jclass class, jbyteArray file, jbyteArray format_name)
{
    char path[PATH_MAX] = "", name[NAME_SIZE] = "", why[PATH_MAX + 400] = "";
    struct bbf_buf text = BBF_BUF_INIT;
    enum bbf_format format = BBF_FORMAT_TREE;
    (void)class;
    if (!copy(env, file, path, sizeof path) || path[0] == '\0' ||
        !copy(env, format_name, name, sizeof name)) {
        bbf_buf_str(&text, "exportToFile needs a path and a format");
        return answer(env, &text, false);
    }
    int err = choose(path, name, &format, &text);
    if (err != BBF_OK)
        return answer(env, &text, false);
    struct bbf_snapshot *snapshot = bbf_ask_snapshot(false, WAIT_MS, &err);
    if (snapshot == NULL)
        return refuse(env, &text, "exportToFile", err);
    err = bbf_report_write_as(snapshot, path, format, 0, why, sizeof why);
    bbf_snapshot_free(snapshot);
    bbf_buf_printf(&text, "%s", err == BBF_OK ? path : why);
    return answer(env, &text, err == BBF_OK);
}

jbyteArray bbf_jmx_reset(JNIEnv *env, bool nodes)
{
    struct bbf_buf text = BBF_BUF_INIT;
    struct bbf_job job = {.kind = nodes ? BBF_JOB_RESET_NODES : BBF_JOB_RESET};
    int err = bbf_thread_ask(&job, WAIT_MS, 0);
    if (err != BBF_OK)
        bbf_event_command_failure(&text, "reset", err);
    else
        bbf_buf_str(&text, bbf_event_command_reset_text(nodes));
    return answer(env, &text, err == BBF_OK);
}

static jbyteArray JNICALL reset(JNIEnv *env, jclass class, jboolean nodes)
{
    (void)class;
    return bbf_jmx_reset(env, nodes == JNI_TRUE);
}

jlongArray bbf_jmx_numbers(JNIEnv *env)
{
    int err;
    struct bbf_snapshot *s = bbf_ask_snapshot(false, WAIT_MS, &err);
    if (s == NULL)
        return NULL;
    const struct bbf_stock_numbers more = bbf_stock_count(s);
    const struct bbf_snap_totals *t = &s->totals;
    const struct bbf_rules_hold hold = bbf_rules_hold();
    const struct bbf_rules *rules = hold.rules;
    const uint64_t all[BBF_JMX_NUMBERS] = {
        [BBF_JMX_LIVES] = t->lives_,
        [BBF_JMX_RELEASED] = t->released_,
        [BBF_JMX_LIVE] = t->live_,
        [BBF_JMX_LIVE_BYTES] = t->live_bytes_,
        [BBF_JMX_LEAKED] = t->leaked_,
        [BBF_JMX_LEAKED_BYTES] = t->leaked_bytes_,
        [BBF_JMX_AGED] = t->aged_,
        [BBF_JMX_MISUSE] = t->misuse_,
        [BBF_JMX_DROPPED_STEPS] = t->dropped_steps_,
        [BBF_JMX_DROPPED_LIVES] = t->dropped_lives_,
        [BBF_JMX_ROOTS] = more.roots,
        [BBF_JMX_LEAK_PATHS] = more.leak_paths,
        [BBF_JMX_SAMPLE] = t->sampled_ > 0 ? t->sampled_ : 1,
        [BBF_JMX_NODES] = s->n_nodes,
        [BBF_JMX_MAX_NODES] = rules != NULL ? (uint64_t)rules->options.max_nodes : 0,
        [BBF_JMX_MAX_DEPTH] = rules != NULL ? (uint64_t)rules->options.max_depth : 0};
    bbf_rules_let_go(&hold);
    jlong out[BBF_JMX_NUMBERS];
    for (size_t i = 0; i < BBF_JMX_NUMBERS; i++)
        out[i] = all[i] > INT64_MAX ? INT64_MAX : (jlong)all[i];
    bbf_snapshot_free(s);
    jlongArray array = (*env)->NewLongArray(env, BBF_JMX_NUMBERS);
    if (array != NULL)
        (*env)->SetLongArrayRegion(env, array, 0, BBF_JMX_NUMBERS, out);
    return array;
}

static jlongArray JNICALL numbers(JNIEnv *env, jclass class)
{
    (void)class;
    return bbf_jmx_numbers(env);
}

static void JNICALL listened(JNIEnv *env, jclass class)
{
    (void)env;
    (void)class;
    bbf_jmx_listened();
}

static void JNICALL registered(JNIEnv *env, jclass class, jbyteArray why)
{
    char text[300] = "an exception with a long text";
    (void)class;
    if (why != NULL)
        (void)copy(env, why, text, sizeof text);
    bbf_jmx_said(why != NULL ? text : NULL, strlen(text));
}

bool bbf_jmx_natives_bind(JNIEnv *env, jclass class)
{
#define METHOD(name, signature)                                                                    \
    {                                                                                              \
        (char *)#name, (char *)(signature), (void *)(uintptr_t)(name)                              \
    }
    const JNINativeMethod methods[] = {METHOD(report, "([BZ)[B"), METHOD(export, "([B[B)[B"),
                                       METHOD(reset, "(Z)[B"),    METHOD(numbers, "()[J"),
                                       METHOD(listened, "()V"),   METHOD(registered, "([B)V")};
#undef METHOD
    return (*env)->RegisterNatives(env, class, methods,
                                   (jint)(sizeof methods / sizeof methods[0])) == JNI_OK;
}
