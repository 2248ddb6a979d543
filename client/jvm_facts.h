/* SPDX-License-Identifier: Apache-2.0 */
/*
 * client/jvm_facts.h - all that can be read about a JVM from outside: from /proc, its performance
 * data, its files, and the status of the agent if it answers. Nothing is changed: no attach, no
 * signal, no file is made or removed.
 *
 * Threads: one. Texts come from other processes: a printer makes them safe. What cannot be read is
 * unknown (0, NULL), and a rule must not conclude from it.
 */
#ifndef BBF_CLIENT_JVM_FACTS_H
#define BBF_CLIENT_JVM_FACTS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "client/agent_answer.h"
#include "client/attach_facts.h"
#include "client/elf_facts.h"
#include "client/jars.h"
#include "client/proc.h"
#include "client/words.h"

struct bbf_jvm_facts {
    pid_t pid;
    enum bbf_proc_kind kind;
    uid_t owner;
    bool named;                         /* a person asked for this JVM, not for all */
    char *main_class;                   /* "", "com.app.Main", "app.jar" */
    char *libjvm, *libc, *mapped_agent; /* paths as the JVM has them; NULL: not mapped */
    char *aot, *archive;                /* class archives that are mapped, but not the JDK's own */
    int java;                           /* 17; 0 = unknown */
    char *vm;                           /* "OpenJDK 64-Bit Server VM", NULL = unknown */
    struct bbf_elf elf;                 /* of its C library */
    bool has_libz;                      /* its zlib is mapped, or in a usual folder */
    bool stopped;                       /* by a signal or a debugger */
    bool has_status;
    struct bbf_attach_status status;
    bool has_perf;          /* performance data were found */
    bool reads_perf;        /* /tmp could be entered, so their absence is a fact */
    bool attach;            /* nothing says that it takes no attach */
    bool listens;           /* its attach listener has a socket */
    struct bbf_words words; /* its options */
    struct {
        bool seen, writable, read_only, noexec;
    } tmp;
    bool cwd_writable, root_read_only;
    bool other_files, other_pids, other_users; /* it has another namespace than we */
    struct bbf_agent_answer agent;
    struct bbf_jars jars; /* read only if no agent answers */
};

/* Our library, as an attach or the next start would use it. */
struct bbf_library_facts {
    const char *path; /* borrowed */
    bool there, noexec;
    struct bbf_elf elf;
};

/* Collect the facts of one process; wait `timeout_ms` for each answer of its agent. `socket_dir`:
 * the agent's option socket=, or NULL. Free with bbf_jvm_facts_free(). */
void bbf_jvm_facts_read(struct bbf_jvm_facts *facts, pid_t pid, const char *socket_dir,
                        unsigned timeout_ms);
void bbf_jvm_facts_free(struct bbf_jvm_facts *facts);

void bbf_library_facts_read(struct bbf_library_facts *facts, const char *path);

/* Is there a file of this absolute path in the JVM's file system? */
bool bbf_jvm_has_file(const struct bbf_jvm_facts *facts, const char *path);

#endif
