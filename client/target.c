/* SPDX-License-Identifier: Apache-2.0 */
#include "client/target.h"

#include "client/black_box.h"

#include "client/output.h"
#include "client/proc.h"
#include "client/print.h"
#include "core/err.h"
#include "wire/client/conn.h"
#include "wire/sockdir.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char start_with[] =
    "give it the agent by 'bbflow attach PID include=your.package', or at its start by "
    "-agentpath:/path/to/libbbflow.so=include=your.package";

/* ---- Agents ---------------------------------------------------------------------------------- */

static void agents_add(void *ctx, pid_t pid, uid_t uid, const char *path)
{
    struct bbf_agents *agents = ctx;
    struct bbf_target agent = {.pid = pid, .uid = uid};

    struct bbf_target *items = realloc(agents->items, (agents->count + 1) * sizeof *agents->items);
    if (items != NULL)
        agents->items = items;
    agent.main = bbf_proc_main(pid);
    agent.path = strdup(path);
    if (items == NULL || agent.main == NULL || agent.path == NULL) {
        free(agent.main);
        free(agent.path);
        agents->failed = true;
        return;
    }
    size_t at = agents->count++;
    for (; at > 0 && items[at - 1].pid > pid; at--)
        items[at] = items[at - 1];
    items[at] = agent;
}

static void agents_in_user_folder(struct bbf_agents *agents, const char *folder, uid_t uid)
{
    char why[BBF_SOCKDIR_PATH + 128];
    /* Any user can make a folder that looks like ours, so it must belong to its user and be closed
     * to others. */
    if (bbf_sockdir_check(folder, uid, why, sizeof why) != BBF_OK) {
        (void)bbf_fail(BBF_EXIT_FAILED, "left out: %s", why);
        return;
    }
    DIR *dir = opendir(folder);
    if (dir == NULL)
        return;
    for (struct dirent *entry; (entry = readdir(dir)) != NULL;) {
        char path[BBF_SOCKDIR_PATH];
        char *rest;
        struct ucred peer;
        long pid = strtol(entry->d_name, &rest, 10);
        if (pid <= 0 || strcmp(rest, ".sock") != 0)
            continue;
        int n = snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        if (n < 0 || (size_t)n >= sizeof path || bbf_socket_probe(path, &peer) != BBF_OK)
            continue;
        /* The name has the pid in the JVM's namespace; the kernel returns it in ours. */
        agents_add(agents, peer.pid > 0 ? peer.pid : (pid_t)pid, uid, path);
    }
    closedir(dir);
}

/* Visit DIR/bbflow-UID of the own user; as root, of all users. */
static void agents_below(struct bbf_agents *agents, const char *socket_dir)
{
    static const char prefix[] = "bbflow-";
    DIR *dir = opendir(socket_dir);
    if (dir == NULL)
        return;
    for (struct dirent *entry; (entry = readdir(dir)) != NULL;) {
        char folder[BBF_SOCKDIR_PATH];
        char *rest;
        const char *digits = entry->d_name + sizeof prefix - 1;
        if (strncmp(entry->d_name, prefix, sizeof prefix - 1) != 0 ||
            !isdigit((unsigned char)*digits))
            continue;
        unsigned long uid = strtoul(digits, &rest, 10);
        if (*rest != '\0' || (geteuid() != 0 && uid != geteuid()))
            continue;
        int n = snprintf(folder, sizeof folder, "%s/%s", socket_dir, entry->d_name);
        if (n > 0 && (size_t)n < sizeof folder)
            agents_in_user_folder(agents, folder, (uid_t)uid);
    }
    closedir(dir);
}

void bbf_agents_find(struct bbf_agents *agents, const char *socket_dir)
{
    *agents = (struct bbf_agents){NULL, 0, false};
    if (socket_dir != NULL)
        agents_below(agents, socket_dir);
    else
        bbf_conn_discover(agents, agents_add);
}

void bbf_agents_free(struct bbf_agents *agents)
{
    for (size_t i = 0; i < agents->count; i++) {
        free(agents->items[i].main);
        free(agents->items[i].path);
    }
    free(agents->items);
    *agents = (struct bbf_agents){NULL, 0, false};
}

const char *bbf_agent_text(const struct bbf_target *agent, char *to, size_t to_size)
{
    if (agent->main[0] != '\0')
        snprintf(to, to_size, "JVM %ld (%s)", (long)agent->pid, agent->main);
    else
        snprintf(to, to_size, "JVM %ld", (long)agent->pid);
    return to;
}

/* ---- JVMs without the agent ------------------------------------------------------------------ */

struct jvm_search {
    const struct bbf_agents *agents;
    const char *part; /* of the main class; NULL: every JVM */
    size_t found;
};

static bool is_agent(const struct bbf_agents *agents, pid_t pid)
{
    for (size_t i = 0; i < agents->count; i++) {
        if (agents->items[i].pid == pid)
            return true;
    }
    return false;
}

static void print_jvm(void *ctx, pid_t pid)
{
    enum { SHOWN = 20 };
    struct jvm_search *search = ctx;
    enum bbf_proc_kind kind = bbf_proc_kind_of(pid, NULL);

    if ((kind != BBF_PROC_JVM && kind != BBF_PROC_AGENT) || is_agent(search->agents, pid))
        return;
    char *name = bbf_proc_main(pid);
    if (name != NULL && (search->part == NULL || strstr(name, search->part) != NULL)) {
        if (search->found == 0)
            bbf_detail("Without the agent, or not answering:");
        if (search->found < SHOWN)
            bbf_detail("  %ld  %s", (long)pid, name);
        else if (search->found == SHOWN)
            bbf_detail("  ...");
        search->found++;
    }
    free(name);
}

void bbf_print_jvms_without(const struct bbf_agents *agents)
{
    struct jvm_search search = {agents, NULL, 0};
    bbf_proc_each(&search, print_jvm);
}

/* ---- Choosing -------------------------------------------------------------------------------- */

bool bbf_target_is_file(const char *target)
{
    size_t len = strlen(target);
    return strchr(target, '/') != NULL || (len > 5 && strcmp(target + len - 5, ".json") == 0) ||
           bbf_black_box_is_at(target);
}

static bool all_digits(const char *text)
{
    return *text != '\0' && text[strspn(text, "0123456789")] == '\0';
}

static const char *user_name(uid_t uid, char *to, size_t to_size)
{
    const struct passwd *user = getpwuid(uid);
    if (user != NULL)
        snprintf(to, to_size, "%s", user->pw_name);
    else
        snprintf(to, to_size, "%lu", (unsigned long)uid);
    return to;
}

/* `pid` is not an agent that answers: print what it is. */
static int explain_pid(pid_t pid, const char *written, const struct bbf_command_line *request)
{
    char user[64];
    uid_t owner = 0;
    enum bbf_proc_kind kind = bbf_proc_kind_of(pid, &owner);

    if (kind == BBF_PROC_NONE)
        return bbf_fail(BBF_EXIT_TARGET,
                        "there is no process %s; 'bbflow list' shows the JVMs with the agent",
                        written);
    if (kind == BBF_PROC_FORBIDDEN && (geteuid() == 0 || owner == geteuid()))
        return bbf_fail(BBF_EXIT_PERMISSION,
                        "no agent answers for process %ld, and it may not be looked into to say "
                        "why; in a container, give this one the capability SYS_PTRACE",
                        (long)pid);
    if (kind == BBF_PROC_FORBIDDEN || (geteuid() != 0 && owner != geteuid()))
        return bbf_fail(BBF_EXIT_PERMISSION,
                        "process %ld belongs to user %s; only that user and root may ask its "
                        "agent, so try: sudo -u %s bbflow %s %ld",
                        (long)pid, user_name(owner, user, sizeof user), user, request->verb,
                        (long)pid);
    char *name = bbf_proc_main(pid);
    const char *shown = name != NULL ? name : "";
    int rc;
    if (kind == BBF_PROC_OTHER)
        rc = bbf_fail(BBF_EXIT_TARGET,
                      "process %ld (%s) is no JVM; 'bbflow list' shows the JVMs with the agent",
                      (long)pid, shown);
    else if (kind == BBF_PROC_JVM)
        rc = bbf_fail(BBF_EXIT_TARGET, "JVM %ld (%s) runs without the bbflow agent; %s", (long)pid,
                      shown, start_with);
    else if (bbf_proc_has_thread(pid, BBF_AGENT_STOPPED))
        rc = bbf_fail(BBF_EXIT_TARGET,
                      "bbflow was stopped in JVM %ld (%s); 'bbflow attach %ld' follows again",
                      (long)pid, shown, (long)pid);
    else if (!bbf_proc_has_thread(pid, BBF_AGENT_THREAD))
        rc = bbf_fail(BBF_EXIT_TARGET,
                      "JVM %ld (%s) has libbbflow.so loaded, but bbflow does not run there: it was "
                      "stopped, or is off, which the JVM's stderr explains; 'bbflow attach %ld' "
                      "follows again",
                      (long)pid, shown, (long)pid);
    else
        rc = bbf_fail(BBF_EXIT_TARGET,
                      "bbflow runs in JVM %ld (%s), but no socket of it was found%s%s; "
                      "if jcmd has just attached it, ask again in a moment; if it has socket=DIR "
                      "give --socket DIR; else the JVM's stderr says why it has none",
                      (long)pid, shown, request->socket != NULL ? " below " : "",
                      request->socket != NULL ? request->socket : "");
    free(name);
    return rc;
}

static const struct bbf_target *choose_pid(const struct bbf_agents *agents,
                                           const struct bbf_command_line *request, int *exit_code)
{
    errno = 0;
    long pid = strtol(request->target, NULL, 10);
    if (errno != 0 || pid != (pid_t)pid)
        pid = 0; /* larger than any pid */
    for (size_t i = 0; i < agents->count; i++) {
        if (agents->items[i].pid == (pid_t)pid)
            return &agents->items[i];
    }
    *exit_code = explain_pid((pid_t)pid, request->target, request);
    return NULL;
}

/* How well `part` names the main class: 3 it is the full name, 2 the simple name, 1 a part, 0
 * neither. */
static int match_quality(const char *main, const char *part)
{
    const char *dot = strrchr(main, '.');
    if (strcmp(main, part) == 0)
        return 3;
    if (dot != NULL && strcmp(dot + 1, part) == 0)
        return 2;
    return strstr(main, part) != NULL ? 1 : 0;
}

static void print_agents(const struct bbf_agents *agents, const char *part, int quality)
{
    for (size_t i = 0; i < agents->count; i++) {
        const struct bbf_target *agent = &agents->items[i];
        if (part == NULL || match_quality(agent->main, part) == quality)
            bbf_detail("  %ld  %s", (long)agent->pid, agent->main);
    }
}

/* The best quality counts: "Main" means the JVM whose class is exactly that, not "com.Mainly". */
static const struct bbf_target *choose_name(const struct bbf_agents *agents, const char *part,
                                            int *exit_code)
{
    const struct bbf_target *best = NULL;
    int best_quality = 0;
    size_t equals = 0;

    for (size_t i = 0; i < agents->count; i++) {
        int quality = match_quality(agents->items[i].main, part);
        if (quality > best_quality) {
            best_quality = quality;
            best = &agents->items[i];
            equals = 0;
        }
        equals += quality > 0 && quality == best_quality;
    }
    if (equals == 1)
        return best;
    *exit_code = BBF_EXIT_TARGET;
    if (equals > 1) {
        bbf_fail(BBF_EXIT_TARGET, "%zu JVMs match '%s'; name one by its pid:", equals, part);
        print_agents(agents, part, best_quality);
        return NULL;
    }
    bbf_fail(BBF_EXIT_TARGET, "no JVM with the agent has '%s' in the name of its main class%s",
             part,
             agents->count > 0 ? "; there are:"
                               : "; to give one the agent: "
                                 "bbflow attach PID include=your.package");
    print_agents(agents, NULL, 0);
    struct jvm_search search = {agents, part, 0};
    bbf_proc_each(&search, print_jvm);
    return NULL;
}

const struct bbf_target *bbf_target_choose(const struct bbf_agents *agents,
                                           const struct bbf_command_line *request, int *exit_code)
{
    if (request->target != NULL && all_digits(request->target))
        return choose_pid(agents, request, exit_code);
    if (request->target != NULL)
        return choose_name(agents, request->target, exit_code);
    if (agents->count == 1)
        return &agents->items[0];
    *exit_code = BBF_EXIT_TARGET;
    if (agents->count > 1) {
        bbf_fail(BBF_EXIT_TARGET,
                 "%zu JVMs have the agent; name one by its pid or main class:", agents->count);
        print_agents(agents, NULL, 0);
    } else {
        bbf_fail(BBF_EXIT_TARGET, "no JVM with the bbflow agent was found%s%s; %s",
                 request->socket != NULL ? " below " : "",
                 request->socket != NULL ? request->socket : "", start_with);
        bbf_print_jvms_without(agents);
    }
    return NULL;
}

/* ---- A JVM to attach to ---------------------------------------------------------------------- */

struct jvm_choice {
    const char *part; /* of the main class */
    int quality;      /* of the best */
    size_t equals;    /* as good as it */
    pid_t pid;
    bool print; /* print the names of those that match equally well */
};

static void consider_jvm(void *ctx, pid_t pid)
{
    struct jvm_choice *choice = ctx;
    enum bbf_proc_kind kind = bbf_proc_kind_of(pid, NULL);
    if (kind != BBF_PROC_JVM && kind != BBF_PROC_AGENT)
        return;
    char *name = bbf_proc_main(pid);
    int quality = name != NULL ? match_quality(name, choice->part) : 0;
    if (choice->print && quality == choice->quality) {
        bbf_detail("  %ld  %s", (long)pid, name);
    } else if (!choice->print && quality > 0 && quality >= choice->quality) {
        choice->equals = quality > choice->quality ? 1 : choice->equals + 1;
        choice->quality = quality;
        choice->pid = pid;
    }
    free(name);
}

static pid_t jvm_by_name(const char *part, int *exit_code)
{
    struct jvm_choice choice = {.part = part};
    bbf_proc_each(&choice, consider_jvm);
    if (choice.equals == 1)
        return choice.pid;
    *exit_code = BBF_EXIT_TARGET;
    if (choice.equals == 0) {
        bbf_fail(BBF_EXIT_TARGET, "no JVM has '%s' in the name of its main class", part);
        struct jvm_search search = {&(struct bbf_agents){NULL, 0, false}, NULL, 0};
        bbf_proc_each(&search, print_jvm);
    } else {
        bbf_fail(BBF_EXIT_TARGET, "%zu JVMs match '%s'; name one by its pid:", choice.equals, part);
        choice.print = true;
        bbf_proc_each(&choice, consider_jvm);
    }
    return 0;
}

pid_t bbf_target_jvm(const struct bbf_agents *agents, const struct bbf_command_line *request,
                     char *who, size_t who_size, int *exit_code)
{
    pid_t pid = 0;
    if (request->target == NULL) {
        *exit_code = bbf_fail(BBF_EXIT_USAGE, "attach needs a JVM: bbflow attach PID include=%s",
                              "your.package");
        bbf_print_jvms_without(agents);
        return 0;
    }
    if (all_digits(request->target)) {
        errno = 0;
        long number = strtol(request->target, NULL, 10);
        pid = errno == 0 && number == (pid_t)number ? (pid_t)number : 0;
        enum bbf_proc_kind kind = bbf_proc_kind_of(pid, NULL);
        if (kind != BBF_PROC_JVM && kind != BBF_PROC_AGENT) {
            *exit_code = explain_pid(pid, request->target, request);
            return 0;
        }
    } else {
        pid = jvm_by_name(request->target, exit_code);
    }
    if (pid == 0)
        return 0;
    struct bbf_target jvm = {.pid = pid, .main = bbf_proc_main(pid)};
    if (jvm.main != NULL)
        bbf_agent_text(&jvm, who, who_size);
    free(jvm.main);
    if (!is_agent(agents, pid) && jvm.main != NULL)
        return pid;
    *exit_code = bbf_fail(BBF_EXIT_REFUSED,
                          "%s has the agent already; 'bbflow set %ld name=value' changes its "
                          "options, 'bbflow stop %ld' ends it",
                          who, (long)pid, (long)pid);
    return 0;
}

pid_t bbf_target_any(const struct bbf_command_line *request, int *exit_code)
{
    if (!all_digits(request->target))
        return jvm_by_name(request->target, exit_code);
    errno = 0;
    long number = strtol(request->target, NULL, 10);
    pid_t pid = errno == 0 && number == (pid_t)number ? (pid_t)number : 0;
    enum bbf_proc_kind kind = bbf_proc_kind_of(pid, NULL);
    if (kind != BBF_PROC_NONE && kind != BBF_PROC_OTHER)
        return pid;
    *exit_code = explain_pid(pid, request->target, request);
    return 0;
}
