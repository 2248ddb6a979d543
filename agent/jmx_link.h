/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agent/jmx_link.h - what is known of the Java side of jmx=: the class that takes notifications,
 * whether a listener was ever added, and what came of the registration.
 *
 * Threads: begin and end the agent thread; the others any.
 */
#ifndef BBF_AGENT_JMX_LINK_H
#define BBF_AGENT_JMX_LINK_H

#include <jni.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum bbf_jmx_state {
    BBF_JMX_STATE_OFF,
    BBF_JMX_STATE_WAITS,      /* for the application to make the platform server */
    BBF_JMX_STATE_STARTING,   /* the registration is under way */
    BBF_JMX_STATE_REGISTERED, /* the MBeans are there */
    BBF_JMX_STATE_FAILED
};

/* `why` is copied; NULL: none. */
void bbf_jmx_say(enum bbf_jmx_state state, const char *why);
/* The registration has ended, unless it was stopped meanwhile. */
void bbf_jmx_said(const char *why, size_t len);
enum bbf_jmx_state bbf_jmx_state(char *why, size_t size);

/* A listener was added (agent/jmx_notice.h). */
void bbf_jmx_listened(void);

/* The Java class Registration, kept by a global reference. False: the JVM has no memory. */
bool bbf_jmx_begin(JNIEnv *env, jclass registration);
/* Take the MBeans out, which waits a second at most, and drop the class. */
void bbf_jmx_end(JNIEnv *env);
bool bbf_jmx_has_begun(void);

#endif
