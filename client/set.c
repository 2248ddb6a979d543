/* SPDX-License-Identifier: Apache-2.0 */
#include "client/set.h"

#include <stdlib.h>
#include <string.h>

#include "core/err.h"
#include "wire/client/conn.h"

enum { WHY_MAX = 512 };

/* name=value, cut in place at its first '='. */
static int fill_param(struct bbf_entry *entry, char *param)
{
    char *equals = strchr(param, '=');
    if (equals == NULL || equals == param)
        return bbf_fail(BBF_EXIT_USAGE,
                        "'%s' is no setting; write name=value, as trackDirectOnly=on "
                        "('bbflow help options' lists them)",
                        param);
    *equals = '\0';
    memset(entry, 0, sizeof *entry);
    entry->key.s = param;
    entry->key.len = (size_t)(equals - param);
    entry->value.kind = BBF_VALUE_STRING;
    entry->value.text.s = equals + 1;
    entry->value.text.len = strlen(equals + 1);
    return BBF_EXIT_OK;
}

int bbf_set(const struct bbf_command_line *request, struct bbf_buf *answer, char who[BBF_WHO])
{
    struct bbf_entry *entries;
    struct bbf_conn *conn = NULL;
    char why[WHY_MAX] = "";

    entries = calloc(request->n_params, sizeof *entries);
    if (entries == NULL)
        return bbf_fail(BBF_EXIT_FAILED, "%s", bbf_strerror(BBF_ENOMEM));
    int exit_code = BBF_EXIT_OK;
    for (size_t i = 0; i < request->n_params && exit_code == BBF_EXIT_OK; i++)
        exit_code = fill_param(&entries[i], request->params[i]);
    if (exit_code == BBF_EXIT_OK)
        exit_code = bbf_connect(request, &conn, who);
    if (exit_code == BBF_EXIT_OK) {
        int rc = bbf_conn_set(conn, entries, request->n_params, answer, why, sizeof why);
        bbf_conn_close(conn);
        if (rc != BBF_OK)
            exit_code = bbf_fail(bbf_exit_of(rc), "%s%s: %s", who,
                                 rc == BBF_EREFUSED ? " refused, nothing was changed" : "",
                                 answer->len > 0  ? bbf_buf_cstr(answer)
                                 : why[0] != '\0' ? why
                                                  : bbf_strerror(rc));
    }
    free(entries);
    return exit_code;
}
