/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agent/commands/discovery.h - the system properties by which BTrace's clients find the TCP port of
 * a JVM: btrace.port, btrace.address, btrace.wireio, btrace.auth.required, btrace.auth.tokenFile.
 * Source: docs/btrace-wire.md 1.
 *
 * JVMTI's SetSystemProperty adds no property after OnLoad, so we call java.lang.System, in the
 * thread of the JVM's start or in our own, never in a thread of the application.
 *
 * Errors: an exception is cleared and logged.
 */
#ifndef BBF_AGENT_COMMANDS_DISCOVERY_H
#define BBF_AGENT_COMMANDS_DISCOVERY_H

#include <jni.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* `token_file`: NULL if no token is required. */
void bbf_discovery_set(JNIEnv *env, uint16_t port, const char *token_file);
/* Clear the properties that we set; not btrace.auth.tokenFile if the user set it
 * (`keep_token_file`). */
void bbf_discovery_clear(JNIEnv *env, bool keep_token_file);
/* java.io.tmpdir as the JVM has it, "/tmp" without one. */
void bbf_discovery_tmpdir(JNIEnv *env, char *out, size_t size);
/* The token's file that the JVM was given with -Dbtrace.auth.tokenFile=FILE. False: there is none,
 * it belongs to another BTrace server (btrace.port is set), or it is longer than `size`. */
bool bbf_discovery_token_file(JNIEnv *env, char *out, size_t size);

#endif
