/* SPDX-License-Identifier: Apache-2.0 */
#include "wire/server/converse.h"

#include <string.h>
#include <strings.h>

#include "wire/server/reply.h"

static const char probe_class[] = " [bbflow]";

bool bbf_session_reads(enum bbf_command_type type)
{
    return type == BBF_CMD_EVENT || type == BBF_CMD_EXIT || type == BBF_CMD_SET_PARAMS ||
           type == BBF_CMD_LIST_PROBES || type == BBF_CMD_DISCONNECT || type == BBF_CMD_RECONNECT ||
           type == BBF_CMD_LIST_FAILED_EXTENSIONS;
}

static void say_status(struct bbf_reply *reply, int32_t flag, bool ok)
{
    struct bbf_command command = {.type = BBF_CMD_STATUS, .number = {flag, 0}, .flag = ok};

    bbf_session_emit(reply->service, reply->session, &command);
}

static void say_probes(struct bbf_reply *reply)
{
    struct bbf_buf name = BBF_BUF_INIT;

    bbf_buf_str(&name, reply->service->config.probe_id);
    bbf_buf_str(&name, probe_class);
    struct bbf_wire_str probe = {name.data, name.len};
    struct bbf_command command = {.type = BBF_CMD_LIST_PROBES, .list = &probe, .n_list = 1};
    if (name.failed)
        reply->session->broken = true;
    else
        bbf_session_emit(reply->service, reply->session, &command);
    bbf_buf_free(&name);
}

static void refuse(struct bbf_reply *reply, const char *message)
{
    bbf_reply_error(reply, message);
    bbf_session_linger(reply->session);
}

static void refuse_unbound(struct bbf_reply *reply, enum bbf_command_type type)
{
    struct bbf_buf text = BBF_BUF_INIT;

    bbf_buf_printf(&text, "%s before RECONNECT: list the probes, reconnect to one, then ask",
                   bbf_command_name(type));
    refuse(reply, bbf_buf_cstr(&text));
    bbf_buf_free(&text);
}

static bool has_nul(const struct bbf_wire_str *text)
{
    return text->len > 0 && memchr(text->s, '\0', text->len) != NULL;
}

static void obey_event(struct bbf_reply *reply, const struct bbf_wire_str *name)
{
    const struct bbf_server_config *config = &reply->service->config;

    if (has_nul(name))
        bbf_reply_error(reply, "an event's name has no NUL bytes");
    else if (name->s != NULL && strcmp(name->s, "watch") == 0)
        reply->session->watching = true; /* the stream is the answer */
    else
        config->event(config->ctx, name->s == NULL ? "" : name->s, reply);
}

static void reconnect(struct bbf_reply *reply, const struct bbf_wire_str *id)
{
    const char *ours = reply->service->config.probe_id;
    /* As java.util.UUID, which does not tell capitals. */
    bool known =
        id->s != NULL && id->len == strlen(ours) && !has_nul(id) && strcasecmp(id->s, ours) == 0;

    say_status(reply, 8, known);
    if (known) {
        reply->session->state = BBF_BOUND;
        reply->session->deadline = INT64_MAX;
        reply->session->place = bbf_live_first(&reply->service->live);
        bbf_session_spoke(reply->session);
    } else {
        bbf_session_linger(reply->session);
    }
}

static bool is_key(const struct bbf_wire_str *key, const char *name)
{
    return key->s != NULL && key->len == strlen(name) && memcmp(key->s, name, key->len) == 0;
}

/* The keys that stock clients send with every script; all others are options of bbflow. */
static bool is_stock_key(const struct bbf_wire_str *key)
{
    static const char *const keys[] = {"scriptOutputFile", "debug",         "dumpDir",
                                       "trusted",          "probeDescPath", "trackRetransforms"};

    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        if (is_key(key, keys[i]))
            return true;
    }
    return false;
}

/* BBF_COMPRESS is the connection's own setting; no answer, as to a stock key. False: said why not.
 */
static bool set_compress(struct bbf_reply *reply, const struct bbf_value *value)
{
    int64_t bytes = value->kind == BBF_VALUE_INT    ? value->u.i
                    : value->kind == BBF_VALUE_LONG ? value->u.l
                                                    : -1;

    if (bytes < 0) {
        bbf_reply_error(reply, BBF_COMPRESS " takes an int or a long of bytes, 0 for never");
        return false;
    }
    reply->session->deflate_over = bytes > 0 ? (size_t)bytes : SIZE_MAX;
    return true;
}

static void set_params(struct bbf_reply *reply, struct bbf_command *command)
{
    const struct bbf_server_config *config = &reply->service->config;
    struct bbf_buf answer = BBF_BUF_INIT;
    size_t n = 0;

    for (size_t i = 0; i < command->n_entries; i++) {
        struct bbf_entry *entry = &command->entries[i];
        if (is_stock_key(&entry->key))
            continue;
        if (is_key(&entry->key, BBF_COMPRESS)) {
            if (!set_compress(reply, &entry->value))
                return;
            continue;
        }
        if (entry->key.s == NULL || has_nul(&entry->key) || has_nul(&entry->value.text)) {
            bbf_reply_error(reply, "an option has a name and no NUL bytes; nothing was set");
            return;
        }
        command->entries[n++] = *entry;
    }
    if (n == 0)
        return; /* as the stock agent: no answer */
    if (config->set == NULL) {
        bbf_reply_error(reply, "nothing can be set here");
        return;
    }
    int err = config->set(config->ctx, command->entries, n, &answer);
    if (err == 0) {
        bbf_reply_text(reply, answer.data, answer.len);
        bbf_reply_status(reply, true);
    } else {
        bbf_reply_error(reply, answer.len > 0 ? bbf_buf_cstr(&answer) : "the option was refused");
    }
    bbf_buf_free(&answer);
}

/* After the answer to DISCONNECT or EXIT nothing is obeyed any more. */
static void end(struct bbf_reply *reply, const struct bbf_command *answer)
{
    bbf_session_emit(reply->service, reply->session, answer);
    bbf_session_linger(reply->session);
}

static void disconnect(struct bbf_reply *reply)
{
    const char *id = reply->service->config.probe_id;
    struct bbf_command answer = {.type = BBF_CMD_DISCONNECT,
                                 .text = {{(char *)(uintptr_t)id, strlen(id)}}};

    end(reply, &answer);
}

static void leave(struct bbf_reply *reply, int32_t code)
{
    struct bbf_command answer = {.type = BBF_CMD_EXIT, .number = {code, 0}};

    if (reply->session->state == BBF_BOUND)
        end(reply, &answer);
    else
        bbf_session_linger(reply->session); /* the stock agent: no answer */
}

/* Stock 2.2.6 waits for STATUS(1) and ends with 1 when it failed, 3.0 for EXIT (facts 5). */
static void refuse_script(struct bbf_reply *reply)
{
    struct bbf_command answer = {.type = BBF_CMD_EXIT, .number = {1, 0}};

    bbf_session_error(reply->service, reply->session, "bbflow runs no scripts");
    say_status(reply, 1, false);
    end(reply, &answer);
}

static void say_failed_extensions(struct bbf_reply *reply)
{
    struct bbf_command none = {.type = BBF_CMD_LIST_FAILED_EXTENSIONS};

    bbf_session_emit(reply->service, reply->session, &none);
}

/* Commands that only a client with a probe may give; without one they end the connection. */
static void obey_bound(struct bbf_reply *reply, struct bbf_command *command)
{
    if (reply->session->state != BBF_BOUND)
        refuse_unbound(reply, command->type);
    else if (command->type == BBF_CMD_EVENT)
        obey_event(reply, &command->text[0]);
    else if (command->type == BBF_CMD_DISCONNECT)
        disconnect(reply);
    /* All others are ignored, as the stock agent does in a session. */
    if (reply->session->state == BBF_BOUND)
        bbf_session_spoke(reply->session);
}

void bbf_session_obey(struct bbf_service *service, struct bbf_session *session,
                      struct bbf_command *command)
{
    struct bbf_reply reply = {service, session};

    atomic_fetch_add_explicit(&service->commands, 1, memory_order_relaxed);
    switch (command->type) {
    case BBF_CMD_SET_PARAMS:
        set_params(&reply, command);
        break;
    case BBF_CMD_LIST_PROBES:
        say_probes(&reply);
        break;
    case BBF_CMD_LIST_FAILED_EXTENSIONS:
        say_failed_extensions(&reply);
        break;
    case BBF_CMD_INSTRUMENT:
        refuse_script(&reply);
        break;
    case BBF_CMD_EXIT:
        leave(&reply, command->number[0]);
        break;
    case BBF_CMD_RECONNECT:
        if (session->state != BBF_BOUND)
            reconnect(&reply, &command->text[0]);
        break;
    default:
        obey_bound(&reply, command);
        break;
    }
}
