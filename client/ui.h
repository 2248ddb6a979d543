/* SPDX-License-Identifier: Apache-2.0 */
/*
 * client/ui.h - `bbflow ui`: the page of the format html, served live to browsers of this machine.
 *
 * Threads: one. Returns an exit code; if it is not 0, it has printed the reason.
 */
#ifndef BBF_CLIENT_UI_H
#define BBF_CLIENT_UI_H

#include "client/client.h"

int bbf_verb_ui(const struct bbf_command_line *request);

#endif
