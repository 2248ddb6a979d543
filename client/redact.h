/* SPDX-License-Identifier: Apache-2.0 */
/*
 * client/redact.h - a snapshot without the names of the application: what is not the JDK's or
 * Netty's becomes a token (client/tokens.h), part by part, so that packages, inner classes, lambdas
 * and all numbers stay as they are. In sentences (notes, causes) every word goes that is part of a
 * name already redacted, or looks like a name.
 *
 * Threads: one owner.
 */
#ifndef BBF_CLIENT_REDACT_H
#define BBF_CLIENT_REDACT_H

#include "client/tokens.h"
#include "snapshot/snapshot.h"

/* Redact all texts of the snapshot; the order of names in a report stays. BBF_ENOMEM; the snapshot
 * is then to be thrown away. */
int bbf_redact(struct bbf_snapshot *snapshot, struct bbf_tokens *tokens);

#endif
