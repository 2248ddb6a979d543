/* SPDX-License-Identifier: Apache-2.0 */
#include "wire/btrace/command.h"

#include <stdlib.h>
#include <string.h>

/* docs/btrace-wire.md 3.4: no real client reaches one of these. */
const struct bbf_wire_limits bbf_wire_server_limits = {
    .frame = (size_t)32 << 20,
    .string = (size_t)64 << 10,
    .entries = 10000,
    .objects = 65536, /* 4 MiB; a command of 10,000 entries has 40,000 */
};

/* An agent sends documents of many frames; no single frame comes near these limits. */
const struct bbf_wire_limits bbf_wire_client_limits = {
    .frame = (size_t)128 << 20,
    .string = BBF_WIRE_STRING_MAX,
    .entries = 1000000,
    .objects = 1 << 20,
};

void bbf_command_free(struct bbf_command *command)
{
    free(command->block);
    memset(command, 0, sizeof *command);
}

const char *bbf_command_name(enum bbf_command_type type)
{
    static const char *const names[BBF_CMD_TYPES] = {
        [BBF_CMD_ERROR] = "ERROR",
        [BBF_CMD_EVENT] = "EVENT",
        [BBF_CMD_EXIT] = "EXIT",
        [BBF_CMD_INSTRUMENT] = "INSTRUMENT",
        [BBF_CMD_MESSAGE] = "MESSAGE",
        [BBF_CMD_RENAME] = "RENAME",
        [BBF_CMD_STATUS] = "STATUS",
        [BBF_CMD_NUMBER_MAP] = "NUMBER_MAP",
        [BBF_CMD_STRING_MAP] = "STRING_MAP",
        [BBF_CMD_NUMBER] = "NUMBER",
        [BBF_CMD_GRID_DATA] = "GRID_DATA",
        [BBF_CMD_RETRANSFORMATION_START] = "RETRANSFORMATION_START",
        [BBF_CMD_RETRANSFORM_CLASS] = "RETRANSFORM_CLASS",
        [BBF_CMD_SET_PARAMS] = "SET_PARAMS",
        [BBF_CMD_LIST_PROBES] = "LIST_PROBES",
        [BBF_CMD_DISCONNECT] = "DISCONNECT",
        [BBF_CMD_RECONNECT] = "RECONNECT",
        [BBF_CMD_LIST_FAILED_EXTENSIONS] = "LIST_FAILED_EXTENSIONS",
    };

    if ((unsigned)type >= BBF_CMD_TYPES)
        return "unknown command";
    return names[type];
}
