/* SPDX-License-Identifier: Apache-2.0 */
#include "client/attach.h"

#include "client/attach_facts.h"
#include "client/client.h"
#include "client/connect.h"
#include "client/proc.h"
#include "core/buf.h"
#include "core/clock.h"
#include "core/err.h"
#include "core/folder.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

enum {
    LISTEN_MS = 10000, /* until the attach listener runs: a safepoint may delay it */
    ANSWER_MS = 60000, /* for Agent_OnAttach */
    GRACE_MS = 500,    /* after Ctrl-C: for a JVM that has our signal to look for the file */
    ARGUMENT = 1024,   /* the longest argument of protocol 1, with its NUL (arg_length_max) */
    PATH_BYTES = 512
};

enum bbf_attach_outcome bbf_attach_read_answer(const char *answer, int *code, const char **text)
{
    static const char returned[] = "return code: ";
    char *end;
    long first = strtol(answer, &end, 10);
    *text = end + strspn(end, "\r\n");
    const char *at = strstr(*text, returned);
    if (end == answer || first != 0 || at == NULL) {
        *code = (int)first;
        return BBF_ATTACH_NOT_LOADED;
    }
    *code = (int)strtol(at + sizeof returned - 1, NULL, 10);
    return BBF_ATTACH_LOADED;
}

/* ---- The JVM's files ------------------------------------------------------------------------- */

struct jvm {
    pid_t pid;
    const char *who;
    struct bbf_attach_status status;
    /* O_PATH folders of the JVM, opened before the user is changed; tmp is its /tmp */
    int root, cwd, tmp;
    bool elsewhere;               /* its file system is not ours */
    char folder[64];              /* of the copy, below tmp; "" = none */
    char library[PATH_BYTES + 8]; /* in the JVM's namespace */
};

static bool same_file(const char *a, const char *b)
{
    struct stat one, two;
    return stat(a, &one) == 0 && stat(b, &two) == 0 && one.st_dev == two.st_dev &&
           one.st_ino == two.st_ino;
}

static int open_jvm(struct jvm *jvm)
{
    char text[8192], path[64], own[64];
    if (bbf_proc_read(jvm->pid, "status", text, sizeof text) == 0 ||
        !bbf_attach_read_status(text, &jvm->status))
        return bbf_fail(BBF_EXIT_TARGET, "%s has ended", jvm->who);
    if (geteuid() != 0 && geteuid() != jvm->status.uid)
        return bbf_fail(BBF_EXIT_PERMISSION,
                        "%s belongs to user %u; only that user and root may attach to it", jvm->who,
                        (unsigned)jvm->status.uid);
    snprintf(path, sizeof path, "/proc/%ld/root", (long)jvm->pid);
    jvm->root = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    int cause = errno;
    snprintf(path, sizeof path, "/proc/%ld/cwd", (long)jvm->pid);
    jvm->cwd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (jvm->root < 0)
        return bbf_fail(
            BBF_EXIT_PERMISSION,
            "%s: its file system cannot be entered: %s; try as root, and in a container "
            "with the capability SYS_PTRACE",
            jvm->who, strerror(cause));
    if (bbf_folder_open(jvm->root, "/tmp", &jvm->tmp, text, sizeof text) != BBF_OK)
        return bbf_fail(BBF_EXIT_FAILED, "%s: the JVM listens in its folder %s", jvm->who, text);
    snprintf(path, sizeof path, "/proc/%ld/ns/mnt", (long)jvm->pid);
    snprintf(own, sizeof own, "/proc/%ld/root/", (long)jvm->pid);
    jvm->elsewhere = !same_file(path, "/proc/self/ns/mnt") || !same_file(own, "/");
    if (!bbf_attach_is_on(jvm->pid, jvm->tmp, &jvm->status))
        return bbf_fail(
            BBF_EXIT_REFUSED,
            "%s was started with -XX:+DisableAttachMechanism; start it without, or with "
            "-agentpath:/path/to/libbbflow.so",
            jvm->who);
    if (!jvm->status.catches_quit)
        return bbf_fail(BBF_EXIT_REFUSED,
                        "%s does not listen for SIGQUIT, which would end it: it is just starting "
                        "(try again), or was started with -Xrs (start it without)",
                        jvm->who);
    return BBF_EXIT_OK;
}

/* ---- Signals that end us --------------------------------------------------------------------- */

/* Files that we made in the JVM's folders must be removed before we end, so a signal is only noted,
 * and ends the process afterwards. */
static volatile sig_atomic_t ended_by;
static const int ending[] = {SIGINT, SIGTERM, SIGHUP};
enum { ENDING = sizeof ending / sizeof *ending };

static void on_ending(int signal)
{
    ended_by = signal;
}

static void hold_signals(struct sigaction old[ENDING])
{
    struct sigaction note = {.sa_handler = on_ending}; /* no SA_RESTART: waits end */
    for (int i = 0; i < ENDING; i++) {
        (void)sigaction(ending[i], NULL, &old[i]);
        if (old[i].sa_handler != SIG_IGN) /* as under nohup */
            (void)sigaction(ending[i], &note, NULL);
    }
}

static void release_signals(const struct sigaction old[ENDING])
{
    for (int i = 0; i < ENDING; i++)
        (void)sigaction(ending[i], &old[i], NULL);
    if (ended_by != 0)
        (void)raise(ended_by);
}

/* ---- As the JVM's user ----------------------------------------------------------------------- */

/* The JVM checks the peer's user and group, and its user must own the files that we make. */
static bool become(uid_t uid, gid_t gid)
{
    return (getegid() == gid || setegid(gid) == 0) && (geteuid() == uid || seteuid(uid) == 0);
}

static void become_again(uid_t uid, gid_t gid)
{
    if (seteuid(uid) != 0 || setegid(gid) != 0)
        _Exit(bbf_fail(BBF_EXIT_FAILED, "cannot become uid %u again", (unsigned)uid));
}

/* ---- The library ----------------------------------------------------------------------------- */

static bool copy_bytes(int from, int to)
{
    char bytes[1 << 16];
    ssize_t n;
    while ((n = read(from, bytes, sizeof bytes)) > 0)
        if (write(to, bytes, (size_t)n) != n)
            return false;
    return n == 0;
}

/* The same build gets the same name, so that a JVM that has loaded it already recognises it. */
static uint64_t name_of_bytes(int fd)
{
    unsigned char bytes[1 << 16];
    uint64_t hash = UINT64_C(0xcbf29ce484222325); /* FNV-1a */
    for (ssize_t n; (n = read(fd, bytes, sizeof bytes)) > 0;)
        for (ssize_t i = 0; i < n; i++)
            hash = (hash ^ bytes[i]) * UINT64_C(0x100000001b3);
    (void)lseek(fd, 0, SEEK_SET);
    return hash;
}

static void remove_copy(const struct jvm *jvm)
{
    char path[PATH_BYTES];
    if (jvm->folder[0] == '\0')
        return;
    snprintf(path, sizeof path, "%s/libbbflow.so", jvm->folder);
    (void)unlinkat(jvm->tmp, path, 0);
    (void)unlinkat(jvm->tmp, jvm->folder, AT_REMOVEDIR);
}

/* Make a folder of the JVM's user that no other user may enter, and copy the library into it. */
static int copy_library(struct jvm *jvm, int from, const char *library)
{
    char path[PATH_BYTES];
    struct stat st;
    snprintf(jvm->folder, sizeof jvm->folder, "bbflow-%016llx",
             (unsigned long long)name_of_bytes(from));
    snprintf(path, sizeof path, "%s", jvm->folder);
    bool there = (mkdirat(jvm->tmp, path, 0700) == 0 || errno == EEXIST) &&
                 fstatat(jvm->tmp, path, &st, AT_SYMLINK_NOFOLLOW) == 0;
    if (there && (!S_ISDIR(st.st_mode) || st.st_uid != geteuid() || (st.st_mode & 0777) != 0700)) {
        jvm->folder[0] = '\0';
        return bbf_fail(BBF_EXIT_PERMISSION,
                        "%s: /tmp/%s, for a copy of %s, is there already, of uid %u, and is no "
                        "folder of uid %u with mode 0700; remove it",
                        jvm->who, path, library, (unsigned)st.st_uid, (unsigned)geteuid());
    }
    if (!there && errno == EROFS) {
        jvm->folder[0] = '\0';
        return bbf_fail(BBF_EXIT_REFUSED,
                        "%s: its /tmp is read-only, and HotSpot lets itself be attached to only "
                        "through files there; mount a volume at /tmp (Kubernetes: an emptyDir), or "
                        "start it with -agentpath",
                        jvm->who);
    }
    if (!there) {
        jvm->folder[0] = '\0';
        return bbf_fail(
            BBF_EXIT_FAILED,
            "%s: cannot create the folder /tmp/%s for a copy of %s: %s; copy the file to where "
            "the JVM can read it and use jcmd's JVMTI.agent_load",
            jvm->who, path, library, strerror(errno));
    }
    snprintf(path, sizeof path, "%s/libbbflow.so", jvm->folder);
    (void)unlinkat(jvm->tmp, path, 0);
    int to = openat(jvm->tmp, path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0500);
    bool good = to >= 0 && copy_bytes(from, to);
    int cause = errno;
    if (to >= 0 && close(to) != 0)
        good = false;
    if (!good) {
        remove_copy(jvm);
        return bbf_fail(BBF_EXIT_FAILED, "%s: %s cannot be copied to its /tmp/%s: %s", jvm->who,
                        library, path, strerror(cause));
    }
    snprintf(jvm->library, sizeof jvm->library, "/tmp/%s", path);
    return BBF_EXIT_OK;
}

/* Find a path of the library for the JVM: its own, or that of a copy. `from` is the open file. */
static int place_library(struct jvm *jvm, int from, const char *library)
{
    if (!jvm->elsewhere && faccessat(AT_FDCWD, library, R_OK, AT_EACCESS) == 0) {
        snprintf(jvm->library, sizeof jvm->library, "%s", library);
        return BBF_EXIT_OK;
    }
    return copy_library(jvm, from, library);
}

/* ---- The conversation ------------------------------------------------------------------------ */

/* Is a SIGQUIT to the process still pending? */
static bool quit_is_pending(pid_t pid)
{
    char text[8192];
    unsigned long long shared = 0;
    return bbf_proc_read(pid, "status", text, sizeof text) > 0 &&
           bbf_attach_number(text, "ShdPnd:", 0, 16, &shared) && (shared >> (SIGQUIT - 1) & 1) != 0;
}

/* Connect to .java_pidN in the JVM's /tmp; -1 with errno. */
static int connect_jvm(const struct jvm *jvm)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(address.sun_path, sizeof address.sun_path, "/proc/self/fd/%d/.java_pid%ld", jvm->tmp,
             (long)jvm->status.inner);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd >= 0 && connect(fd, (struct sockaddr *)&address, sizeof address) != 0) {
        int cause = errno;
        close(fd);
        errno = cause;
        return -1;
    }
    return fd;
}

/* Make the file that tells the JVM to start its attach listener at SIGQUIT. *folder is its folder;
 * *pending: it existed already, so another process's SIGQUIT may be pending. */
static bool make_trigger(const struct jvm *jvm, int *folder, char *name, size_t size, bool *pending)
{
    const int folders[] = {jvm->tmp, jvm->cwd};
    for (int i = 0; i < 2; i++) {
        snprintf(name, size, ".attach_pid%ld", (long)jvm->status.inner);
        int fd = folders[i] < 0
                     ? -1
                     : openat(folders[i], name,
                              O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
        *pending = folders[i] >= 0 && fd < 0 && errno == EEXIST;
        if (fd < 0 && !*pending)
            continue;
        if (fd >= 0)
            close(fd);
        *folder = folders[i];
        return true;
    }
    return false;
}

/*
 * Wake the attach listener, which a JVM starts only at the first request, by one SIGQUIT. A second
 * SIGQUIT that arrives after the listener has started prints a thread dump (os::signal_thread_entry
 * of JDK 17). So if the file existed already, wait for the other process's signal first; a file
 * that a dead process left behind costs half the time.
 */
static int wake_listener(const struct jvm *jvm, int *fd)
{
    char name[64];
    int folder = -1;
    bool pending = false;
    /* A stopped process handles no signal. Once it continues, it would answer this one with a
     * thread dump, because the file is gone by then. */
    int stopped = bbf_fail_if_stopped(jvm->pid, jvm->who);
    if (stopped != BBF_EXIT_OK)
        return stopped;
    if (!make_trigger(jvm, &folder, name, sizeof name, &pending))
        return bbf_fail(BBF_EXIT_FAILED,
                        "%s: neither its /tmp nor its working folder can be written to (%s), and "
                        "the JVM looks for the request there",
                        jvm->who, strerror(errno));
    int64_t until = bbf_monotonic_ms() + LISTEN_MS;
    bool signalled = false;
    long pause_ms = 5;
    do {
        if (ended_by != 0 && until > bbf_monotonic_ms() + GRACE_MS)
            until = bbf_monotonic_ms() + (signalled ? GRACE_MS : 0);
        if (!pending || bbf_monotonic_ms() > until - LISTEN_MS / 2) {
            if (!signalled && kill(jvm->pid, SIGQUIT) != 0) {
                int cause = errno;
                (void)unlinkat(folder, name, 0);
                return bbf_fail(cause == EPERM ? BBF_EXIT_PERMISSION : BBF_EXIT_TARGET, "%s: %s",
                                jvm->who, strerror(cause));
            }
            signalled = true;
        }
        nanosleep(&(struct timespec){.tv_nsec = pause_ms * 1000000L}, NULL);
        pause_ms = pause_ms < 100 ? 2 * pause_ms : pause_ms;
        *fd = connect_jvm(jvm);
    } while (*fd < 0 && (errno == ENOENT || errno == ECONNREFUSED) && bbf_monotonic_ms() < until);
    int cause = errno;
    if (signalled || !pending) /* otherwise it belongs to another process, which still waits */
        (void)unlinkat(folder, name, 0);
    if (*fd >= 0)
        return BBF_EXIT_OK;
    if (ended_by != 0)
        return bbf_fail(BBF_EXIT_FAILED, "%s: interrupted before the attach", jvm->who);
    if (cause == EACCES || cause == EPERM)
        return bbf_fail(BBF_EXIT_PERMISSION, "%s: its attach listener may not be connected to",
                        jvm->who);
    return bbf_fail(BBF_EXIT_FAILED,
                    "%s: its attach listener did not come within %d s; is it %s, or so short "
                    "of CPU that it cannot answer?%s",
                    jvm->who, LISTEN_MS / 1000,
                    bbf_proc_is_stopped(jvm->pid) ? "stopped" : "frozen",
                    quit_is_pending(jvm->pid)
                        ? " It has not taken the SIGQUIT yet, and prints a thread dump when it does"
                        : "");
}

static bool send_request(int fd, const char *library, const char *options)
{
    const char *words[] = {"1", "load", library, "true", options};
    struct bbf_buf request = BBF_BUF_INIT;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        bbf_buf_add(&request, words[i], strlen(words[i]) + 1);
    bool sent = !request.failed &&
                send(fd, request.data, request.len, MSG_NOSIGNAL) == (ssize_t)request.len;
    bbf_buf_free(&request);
    return sent;
}

/* Read the whole answer, until the JVM closes. False after ANSWER_MS. */
static bool receive_answer(int fd, struct bbf_buf *answer)
{
    int64_t until = bbf_monotonic_ms() + ANSWER_MS;
    for (;;) {
        char bytes[4096];
        int64_t left = until - bbf_monotonic_ms();
        struct pollfd wait = {.fd = fd, .events = POLLIN};
        if (ended_by != 0 || left <= 0 || poll(&wait, 1, (int)left) <= 0)
            return false;
        ssize_t n = recv(fd, bytes, sizeof bytes, 0);
        if (n <= 0)
            return n == 0;
        bbf_buf_add(answer, bytes, (size_t)n);
    }
}

static int judge(const struct jvm *jvm, const char *answer)
{
    const char *text;
    int code;
    if (bbf_attach_read_answer(answer, &code, &text) == BBF_ATTACH_NOT_LOADED) {
        int len = (int)strcspn(text, "\n");
        if (strstr(text, "ynamic agent loading") != NULL)
            return bbf_fail(BBF_EXIT_REFUSED,
                            "%s was started with -XX:-EnableDynamicAgentLoading; start it without, "
                            "or with -agentpath:%s",
                            jvm->who, jvm->library);
        return bbf_fail(BBF_EXIT_FAILED,
                        "%s did not load %s: %.*s; is its /tmp mounted noexec, or is it a JVM of "
                        "another machine type or C library?",
                        jvm->who, jvm->library, len, text);
    }
    if (code == 0)
        return BBF_EXIT_OK;
    if (code == 2)
        return bbf_fail(BBF_EXIT_USAGE,
                        "%s did not take the options; its stderr, or the file of log=, says why",
                        jvm->who);
    return bbf_fail(
        code == 5 ? BBF_EXIT_REFUSED : BBF_EXIT_FAILED,
        "%s refused (Agent_OnAttach returned %d); its stderr, or the file of log=, says "
        "why: mostly, it has another build of bbflow, or is no HotSpot 11 or newer",
        jvm->who, code);
}

static int converse(struct jvm *jvm, const char *options)
{
    struct bbf_buf answer = BBF_BUF_INIT;
    int fd = connect_jvm(jvm), exit_code = BBF_EXIT_OK;
    if (strlen(jvm->library) >= ARGUMENT || strlen(options) >= ARGUMENT)
        exit_code =
            bbf_fail(BBF_EXIT_USAGE,
                     "the options have %zu characters, and HotSpot takes %d at attach; give "
                     "the rest by 'bbflow set' afterwards",
                     strlen(options), ARGUMENT - 1);
    else if (fd < 0)
        exit_code = wake_listener(jvm, &fd);
    bool answered = exit_code == BBF_EXIT_OK && send_request(fd, jvm->library, options) &&
                    receive_answer(fd, &answer);
    if (exit_code == BBF_EXIT_OK && !answered && ended_by != 0)
        exit_code = bbf_fail(BBF_EXIT_FAILED,
                             "%s: interrupted before its answer; whether it loaded the agent, "
                             "'bbflow list' will show",
                             jvm->who);
    else if (exit_code == BBF_EXIT_OK && !answered)
        exit_code = bbf_fail(BBF_EXIT_FAILED,
                             "%s gave no answer within %d s; whether it loaded the agent, 'bbflow "
                             "list' will show",
                             jvm->who, ANSWER_MS / 1000);
    if (exit_code == BBF_EXIT_OK)
        exit_code = judge(jvm, bbf_buf_cstr(&answer));
    if (fd >= 0)
        close(fd);
    bbf_buf_free(&answer);
    return exit_code;
}

int bbf_attach_load(pid_t pid, const char *who, const char *library, const char *options)
{
    struct jvm jvm = {.pid = pid, .who = who, .root = -1, .cwd = -1, .tmp = -1};
    uid_t uid = geteuid();
    gid_t gid = getegid();
    int exit_code = BBF_EXIT_OK;
    struct sigaction old[ENDING];

    hold_signals(old);
    int from = open(library, O_RDONLY | O_CLOEXEC);
    if (from < 0)
        exit_code = bbf_fail(BBF_EXIT_FAILED, "%s: %s; name the agent by --agent FILE", library,
                             strerror(errno));
    if (exit_code == BBF_EXIT_OK)
        exit_code = open_jvm(&jvm);
    if (exit_code == BBF_EXIT_OK && !become(jvm.status.uid, jvm.status.gid))
        exit_code = bbf_fail(BBF_EXIT_PERMISSION, "cannot become user %u of %s: %s",
                             (unsigned)jvm.status.uid, who, strerror(errno));
    if (exit_code == BBF_EXIT_OK)
        exit_code = place_library(&jvm, from, library);
    if (exit_code == BBF_EXIT_OK)
        exit_code = converse(&jvm, options);
    remove_copy(&jvm);
    become_again(uid, gid);
    const int open_fds[] = {from, jvm.root, jvm.cwd, jvm.tmp};
    for (int i = 0; i < 4; i++)
        if (open_fds[i] >= 0)
            close(open_fds[i]);
    release_signals(old);
    return exit_code;
}
