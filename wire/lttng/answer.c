/* SPDX-License-Identifier: Apache-2.0 */
#include "wire/lttng/answer.h"

#include "core/err.h"

static enum bbf_lttng_code code_of(int err)
{
    if (err == BBF_ENOTFOUND)
        return BBF_LTTNG_UNKNOWN_NAME;
    return err == BBF_OK ? BBF_LTTNG_SUCCESS : BBF_LTTNG_INVALID;
}

static void answer_well_formed(struct bbf_lttng_state *state,
                               const struct bbf_lttng_command *command, struct bbf_buf *out)
{
    int err = BBF_EINVAL;

    switch (command->number) {
    case BBF_LTTNG_LIST:
        (void)bbf_lttng_add_list(state->version, out, state->loggers, state->n_loggers);
        return;
    case BBF_LTTNG_REGISTERED:
        if (state->version == BBF_LTTNG_0_1)
            break;
        state->is_registered = true;
        return;
    case BBF_LTTNG_ENABLE:
        err = bbf_lttng_enabled_add(&state->enabled, command);
        break;
    case BBF_LTTNG_DISABLE:
        err = bbf_lttng_enabled_remove(&state->enabled, command->name);
        break;
    case BBF_LTTNG_CONTEXT_ENABLE:
    case BBF_LTTNG_CONTEXT_DISABLE: /* bbflow has no context: the tracer records "_none" */
        err = state->version == BBF_LTTNG_2_0 ? BBF_OK : BBF_EINVAL;
        break;
    default:
        break;
    }
    bbf_lttng_add_code(out, code_of(err));
}

/* REGISTERED has no answer, so that the daemon would take one for that of its next command. */
static bool has_answer(const struct bbf_lttng_state *state, const struct bbf_lttng_command *command)
{
    return state->version == BBF_LTTNG_0_1 || command->number != BBF_LTTNG_REGISTERED;
}

int bbf_lttng_answer(struct bbf_lttng_state *state, const uint8_t *in, size_t len, size_t *used,
                     const char **why, struct bbf_buf *out)
{
    struct bbf_lttng_command command;
    int err = bbf_lttng_decode(state->version, &command, in, len, used, why);

    if (err == BBF_OK)
        answer_well_formed(state, &command, out);
    else if (err == BBF_EFORMAT && has_answer(state, &command))
        bbf_lttng_add_code(out, BBF_LTTNG_INVALID);
    return out->failed ? BBF_ENOMEM : err;
}

void bbf_lttng_state_clear(struct bbf_lttng_state *state)
{
    bbf_lttng_enabled_clear(&state->enabled);
    state->is_registered = false;
}
