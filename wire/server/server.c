/* SPDX-License-Identifier: Apache-2.0 */
#include "wire/server/server.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "core/clock.h"
#include "core/err.h"
#include "core/spawn.h"
#include "wire/server/admit.h"
#include "wire/server/session.h"
#include "wire/sockdir.h"

enum {
    HANDSHAKE_MS = 5000, /* the limit of every read of the handshake (docs/btrace-wire.md, 2.2) */
    STALL_MS = 30000,
    QUEUE_BYTES = 256 * 1024 * 1024,
    QUEUE = 5000, /* as the stock agent */
    AUTH_MS = 2000,
    WAITING = 64,
    BACKLOG = 4096, /* of TCP and the socket; the kernel takes what net.core.somaxconn allows */
    ACCEPTS = 64,   /* at once, then those who are in have their turn */
    FIXED_POLLS = 3,
    MAX_DEPTH = 4,             /* callbacks inside each other */
    STACK_BYTES = 1024 * 1024, /* callbacks render, and attach to a JVM */
    ACCEPT_PAUSE_MS = 100      /* after a failed accept (no fds left): not to spin */
};

struct bbf_server {
    struct bbf_service service;
    struct bbf_session *sessions; /* service.slots of them */
    struct pollfd *polls;         /* wake, listen, TCP, then one per open session */
    struct bbf_session **open;    /* [i] belongs to polls[FIXED_POLLS + i] */
    size_t n_open;
    unsigned depth;
    uint64_t rounds; /* of serve_once */
    atomic_int listen_fd, tcp_fd, wake_fd;
    uint16_t port;
    int64_t accept_after;
    char path[BBF_SOCKET_PATH];
    dev_t dev; /* of the socket we made, so that we never unlink another's */
    ino_t ino;
    pthread_t thread;
    _Atomic uint64_t cpu_ns;
    atomic_bool stop;
    bool forgotten; /* we are a forked child: no thread, nothing to unlink */
    pthread_mutex_t mutex;
    pthread_cond_t ended;
    /* under mutex */
    bool done;
    bool abandoned; /* stop() went away: the thread frees the server */
};

static void close_atomic(atomic_int *fd)
{
    int old = atomic_exchange(fd, -1);

    if (old >= 0)
        close(old);
}

/* Same user or root: the kernel says who connected (design.md: serving). */
static bool peer_allowed(int fd)
{
    struct ucred peer;
    socklen_t len = sizeof peer;

    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) != 0)
        return false;
    return peer.uid == 0 || peer.uid == geteuid();
}

/* Answers are small and wait for each other; a peer that vanished is found within minutes. */
static void set_tcp_options(int fd)
{
    static const struct {
        int level, name, value;
    } options[] = {{IPPROTO_TCP, TCP_NODELAY, 1},
                   {SOL_SOCKET, SO_KEEPALIVE, 1},
                   {IPPROTO_TCP, TCP_KEEPIDLE, 60},
                   {IPPROTO_TCP, TCP_KEEPINTVL, 20},
                   {IPPROTO_TCP, TCP_KEEPCNT, 3}};

    for (size_t i = 0; i < sizeof options / sizeof options[0]; i++)
        (void)setsockopt(fd, options[i].level, options[i].name, &options[i].value,
                         sizeof options[i].value);
}

/* Over TCP at most a quarter of the waiting places at once: three in four were read before one has
 * to go. */
static size_t accepts(const struct bbf_server *server, bool tcp)
{
    size_t quarter = (server->service.config.max_waiting + 3) / 4;

    return tcp && quarter < ACCEPTS ? quarter : ACCEPTS;
}

static void accept_some(struct bbf_server *server, bool tcp)
{
    int from = atomic_load(tcp ? &server->tcp_fd : &server->listen_fd);

    for (size_t i = accepts(server, tcp); i > 0; i--) {
        int fd = accept4(from, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
        if (fd < 0 && (errno == EINTR || errno == ECONNABORTED))
            continue;
        if (fd < 0) {
            if (errno != EAGAIN && errno != EWOULDBLOCK)
                server->accept_after = bbf_monotonic_ms() + ACCEPT_PAUSE_MS;
            return;
        }
        /* Over TCP the kernel does not say who it is: that is the token's part. */
        if (!tcp && !peer_allowed(fd)) {
            atomic_fetch_add_explicit(&server->service.refused, 1, memory_order_relaxed);
            close(fd);
            continue;
        }
        if (tcp)
            set_tcp_options(fd);
        (void)bbf_admit(&server->service, fd, tcp);
    }
}

/* Fill the poll set with what is open (poll refuses more entries than the process may have fds);
 * returns the time-out. */
static int prepare(struct bbf_server *server, int64_t now)
{
    int64_t due = INT64_MAX;
    bool pause = now < server->accept_after;

    server->polls[0] = (struct pollfd){.fd = atomic_load(&server->wake_fd), .events = POLLIN};
    server->polls[1] =
        (struct pollfd){.fd = pause ? -1 : atomic_load(&server->listen_fd), .events = POLLIN};
    server->polls[2] =
        (struct pollfd){.fd = pause ? -1 : atomic_load(&server->tcp_fd), .events = POLLIN};
    if (pause)
        due = server->accept_after;
    server->n_open = 0;
    server->service.input = 0;
    for (size_t i = 0; i < server->service.slots; i++) {
        struct bbf_session *session = &server->sessions[i];
        int fd = atomic_load(&session->fd);
        if (fd < 0)
            continue;
        int64_t session_due =
            session->busy ? INT64_MAX : bbf_session_due(&server->service, session);
        if (session_due < due)
            due = session_due;
        server->service.input += session->in.cap + bbf_v1_reader_bytes(session->reader);
        /* Of one that is busy nothing is wanted but its output's progress. */
        bool idle = session->busy && (session->broken || session->out.bytes == 0);
        server->polls[FIXED_POLLS + server->n_open] = (struct pollfd){
            .fd = idle ? -1 : fd, .events = session->busy ? POLLOUT : bbf_session_events(session)};
        server->open[server->n_open++] = session;
    }
    if (due == INT64_MAX)
        return -1;
    return due <= now ? 0 : due - now > 60000 ? 60000 : (int)(due - now);
}

/* A message was published. */
static void take_wake(const struct bbf_server *server)
{
    uint64_t count;

    if (read(atomic_load(&server->wake_fd), &count, sizeof count) < 0)
        return; /* no message after all */
}

/* Each session that poll found something for. False: a callback served the others itself meanwhile,
 * and what poll found is no longer true. */
static bool work_all(struct bbf_server *server, uint64_t round)
{
    for (size_t i = 0; i < server->n_open && !atomic_load(&server->stop); i++) {
        short revents = server->polls[FIXED_POLLS + i].revents;
        if (revents == 0 || atomic_load(&server->open[i]->fd) < 0)
            continue;
        if (server->open[i]->busy)
            bbf_session_flush(server->open[i]);
        else
            bbf_session_work(&server->service, server->open[i], revents);
        if (server->rounds != round)
            return false;
    }
    return true;
}

/* The live stream, and time limits as of `now`. */
static bool expire_all(struct bbf_server *server, uint64_t round, int64_t now)
{
    for (size_t i = 0; i < server->n_open; i++) {
        struct bbf_session *session = server->open[i];
        if (!session->busy && atomic_load(&session->fd) >= 0)
            bbf_session_feed(&server->service, session, now);
        if (!session->busy && atomic_load(&session->fd) >= 0)
            bbf_session_expire(&server->service, session, now);
        if (server->rounds != round)
            return false;
    }
    return true;
}

/* Noted before it waits, because the clock of a thread that may have ended must not be read. */
static void note_cpu_time(struct bbf_server *server)
{
    struct timespec t;
    if (clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t) == 0)
        atomic_store_explicit(&server->cpu_ns,
                              (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec,
                              memory_order_relaxed);
}

/* One look at all that is open, waiting for it at most `most_ms` (-1: no limit). */
static void serve_once(struct bbf_server *server, int most_ms)
{
    uint64_t round = ++server->rounds;
    int timeout = prepare(server, bbf_monotonic_ms());

    if (most_ms >= 0 && (timeout < 0 || timeout > most_ms))
        timeout = most_ms;
    note_cpu_time(server);
    int ready = poll(server->polls, (nfds_t)(FIXED_POLLS + server->n_open), timeout);
    /* Taken before the callbacks: the time that one client's callback takes is not held against
     * the others, whose input is looked at before their time is. */
    int64_t now = bbf_monotonic_ms();

    if (ready < 0) { /* out of memory: try again, but do not spin */
        nanosleep(&(struct timespec){.tv_nsec = ACCEPT_PAUSE_MS * 1000000L}, NULL);
        return;
    }
    if (server->polls[0].revents != 0 && !atomic_load(&server->stop))
        take_wake(server);
    if (!work_all(server, round) || !expire_all(server, round, now))
        return;
    for (int i = 1; i < FIXED_POLLS && !atomic_load(&server->stop); i++) {
        if (server->polls[i].revents != 0)
            accept_some(server, i == 2);
    }
}

static bool serve_others(struct bbf_service *service, int fd)
{
    struct bbf_server *server = (struct bbf_server *)(void *)service; /* its first member */

    if (server->depth < MAX_DEPTH) {
        server->depth++;
        serve_once(server, BBF_WAIT_MS);
        server->depth--;
    } else {
        struct pollfd out = {.fd = fd, .events = POLLOUT};
        (void)poll(&out, 1, BBF_WAIT_MS);
    }
    return !atomic_load(&server->stop);
}

/* A socket that a dead process of our pid left there goes; anything else stays. */
static int clear_stale(const char *path, char *why, size_t why_size)
{
    struct stat st;
    struct ucred peer;

    if (lstat(path, &st) != 0)
        return BBF_OK;
    if (!S_ISSOCK(st.st_mode)) {
        snprintf(why, why_size, "%s: exists and is not a socket", path);
        return BBF_EIO;
    }
    int err = bbf_socket_probe(path, &peer);
    if (err != BBF_ECLOSED && err != BBF_ENOTFOUND) {
        snprintf(why, why_size, "%s: another process answers there (pid namespaces that share it?)",
                 path);
        return BBF_EIO;
    }
    if (unlink(path) != 0 && errno != ENOENT) {
        snprintf(why, why_size, "%s: stale, and cannot be removed: %s", path, strerror(errno));
        return BBF_EIO;
    }
    return BBF_OK;
}

static int bind_failed(const char *path, char *why, size_t why_size)
{
    int err = errno == EACCES || errno == EPERM || errno == EROFS ? BBF_EPERMISSION : BBF_EIO;

    snprintf(why, why_size, "%s: %s", path, strerror(errno));
    return err;
}

static int listen_in(struct bbf_server *server, const char *base, char *why, size_t why_size)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    struct stat st;
    int err = bbf_sockdir_make(base, server->service.config.pid, server->path, why, why_size);

    if (err == BBF_OK)
        err = clear_stale(server->path, why, why_size);
    if (err != BBF_OK)
        return err;
    memcpy(address.sun_path, server->path, sizeof address.sun_path);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return bind_failed(server->path, why, why_size);
    /* On Linux the socket's own mode is what bind gives the file, less the umask, which is the
     * application's and not ours to change. */
    if (fchmod(fd, 0600) != 0 || bind(fd, (struct sockaddr *)&address, sizeof address) != 0 ||
        listen(fd, BACKLOG) != 0 || lstat(server->path, &st) != 0) {
        err = bind_failed(server->path, why, why_size);
        close(fd);
        return err;
    }
    server->dev = st.st_dev;
    server->ino = st.st_ino;
    atomic_store(&server->listen_fd, fd);
    return BBF_OK;
}

/* The first usable of the three; `why` collects why each was not. */
static int listen_somewhere(struct bbf_server *server, char *why, size_t why_size)
{
    const char *base = server->service.config.socket_dir;
    char reason[BBF_SOCKDIR_PATH + 128];
    int worst = BBF_EIO;
    size_t used = 0;

    if (base != NULL) {
        int err = listen_in(server, base, why, why_size);
        return err == BBF_OK || err == BBF_EPERMISSION ? err : BBF_EIO;
    }
    if (why_size > 0)
        why[0] = '\0';
    for (unsigned i = 0; (base = bbf_sockdir_base(i)) != NULL; i++) {
        if (base[0] == '\0')
            continue;
        int err = listen_in(server, base, reason, sizeof reason);
        if (err == BBF_OK)
            return BBF_OK;
        if (err == BBF_EPERMISSION)
            worst = err;
        if (used < why_size) {
            int n = snprintf(why + used, why_size - used, "%s%s", used > 0 ? "; " : "", reason);
            used += n < 0 ? 0 : (size_t)n;
        }
    }
    return worst;
}

/* 127.0.0.1 alone: what another host may see is a tunnel's business. */
static int listen_tcp(struct bbf_server *server, uint16_t port, char *why, size_t why_size)
{
    struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof address;
    char name[32];
    int one = 1;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

    snprintf(name, sizeof name, "127.0.0.1:%u", (unsigned)port);
    if (fd < 0)
        return bind_failed(name, why, why_size);
    /* Connections of a JVM before us that are still being closed are not in the way. */
    (void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    if (bind(fd, (struct sockaddr *)&address, sizeof address) != 0 || listen(fd, BACKLOG) != 0 ||
        getsockname(fd, (struct sockaddr *)&address, &len) != 0) {
        int err = bind_failed(name, why, why_size);
        close(fd);
        return err;
    }
    server->port = ntohs(address.sin_port);
    atomic_store(&server->tcp_fd, fd);
    return BBF_OK;
}

/* One place is enough. */
static int listen_everywhere(struct bbf_server *server, const struct bbf_server_config *config,
                             char *why, size_t why_size)
{
    int err = listen_somewhere(server, why, why_size);

    if (err == BBF_OK && why_size > 0)
        why[0] = '\0';
    if (err != BBF_OK)
        server->path[0] = '\0';
    if (!config->tcp)
        return err;
    size_t used = strlen(why);
    if (used > 0 && used + 2 < why_size)
        used += (size_t)snprintf(why + used, why_size - used, "; ");
    int tcp_err = listen_tcp(server, config->port, why + used, why_size - used);
    if (tcp_err == BBF_OK && err != BBF_OK)
        why[used - 2] = '\0';
    return err == BBF_OK || tcp_err == BBF_OK ? BBF_OK : err;
}

/* Are so few descriptors left to the application that we had better take none? A process with room
 * for many is not counted. */
static bool leaves_descriptors(void)
{
    enum { SPARE = 8, CHECKED_MAX = 1024 };
    struct rlimit limit;
    struct pollfd fds[64];
    size_t open_fds = 0;

    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur > CHECKED_MAX)
        return true;
    for (int from = 0; from < (int)limit.rlim_cur; from += 64) {
        nfds_t n = 0;
        for (int fd = from; n < 64 && fd < (int)limit.rlim_cur; fd++)
            fds[n++] = (struct pollfd){.fd = fd};
        if (poll(fds, n, 0) < 0)
            return true;
        for (nfds_t i = 0; i < n; i++)
            open_fds += (fds[i].revents & POLLNVAL) == 0;
    }
    return open_fds + SPARE <= limit.rlim_cur;
}

static int copy_token(struct bbf_service *service, const struct bbf_token *token)
{
    if (token == NULL)
        return BBF_OK;
    service->token = malloc(token->len);
    if (service->token == NULL)
        return BBF_ENOMEM;
    memcpy(service->token, token->bytes, token->len);
    service->token_len = token->len;
    return BBF_OK;
}

static int copy_config(struct bbf_service *service, const struct bbf_server_config *config)
{
    struct bbf_server_config *own = &service->config;

    *own = *config;
    own->socket_dir = NULL;
    own->token = NULL; /* the caller's may go */
    own->probe_id = strdup(config->probe_id);
    if (config->socket_dir != NULL)
        own->socket_dir = strdup(config->socket_dir);
    if (own->handshake_ms == 0)
        own->handshake_ms = HANDSHAKE_MS;
    if (own->auth_ms == 0)
        own->auth_ms = own->handshake_ms < AUTH_MS ? own->handshake_ms : AUTH_MS;
    if (own->max_waiting == 0)
        own->max_waiting = config->max_clients < WAITING / 2 ? WAITING : 2 * config->max_clients;
    /* One more that is accepted before another goes. */
    service->slots = config->max_clients + (config->tcp ? own->max_waiting : 0) + 1;
    if (own->stall_ms == 0)
        own->stall_ms = STALL_MS;
    if (own->queue_bytes == 0)
        own->queue_bytes = QUEUE_BYTES;
    return own->probe_id == NULL || (config->socket_dir != NULL && own->socket_dir == NULL)
               ? BBF_ENOMEM
               : BBF_OK;
}

static void server_free(struct bbf_server *server)
{
    close_atomic(&server->listen_fd);
    close_atomic(&server->tcp_fd);
    close_atomic(&server->wake_fd);
    if (server->service.token != NULL)
        explicit_bzero(server->service.token, server->service.token_len);
    free(server->service.token);
    bbf_live_free(&server->service.live);
    for (size_t i = 0; server->sessions != NULL && i < server->service.slots; i++)
        bbf_session_close(&server->sessions[i]);
    pthread_cond_destroy(&server->ended);
    pthread_mutex_destroy(&server->mutex);
    free(server->sessions);
    free(server->polls);
    free(server->open);
    free((void *)(uintptr_t)server->service.config.probe_id);
    free((void *)(uintptr_t)server->service.config.socket_dir);
    free(server);
}

static int server_new(struct bbf_server **out, const struct bbf_server_config *config)
{
    struct bbf_server *server = calloc(1, sizeof *server);
    pthread_condattr_t attr;

    if (server == NULL)
        return BBF_ENOMEM;
    atomic_init(&server->listen_fd, -1);
    atomic_init(&server->tcp_fd, -1);
    atomic_init(&server->wake_fd, eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    pthread_mutex_init(&server->mutex, NULL);
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&server->ended, &attr);
    pthread_condattr_destroy(&attr);
    server->service.serve_others = serve_others;
    int err = bbf_live_init(&server->service.live, config->queue > 0 ? config->queue : QUEUE);
    if (err == BBF_OK)
        err = copy_config(&server->service, config);
    if (err == BBF_OK)
        err = copy_token(&server->service, config->token);
    const size_t slots = server->service.slots;
    server->sessions = server->service.sessions = calloc(slots, sizeof *server->sessions);
    server->polls = calloc(slots + FIXED_POLLS, sizeof *server->polls);
    server->open = calloc(slots, sizeof(struct bbf_session *));
    if (server->sessions == NULL || server->polls == NULL || server->open == NULL)
        err = BBF_ENOMEM;
    for (size_t i = 0; server->sessions != NULL && i < slots; i++)
        atomic_init(&server->sessions[i].fd, -1);
    if (err == BBF_OK && atomic_load(&server->wake_fd) < 0)
        err = BBF_EIO;
    if (err != BBF_OK) {
        server_free(server);
        return err;
    }
    *out = server;
    return BBF_OK;
}

static void *serve(void *arg)
{
    struct bbf_server *server = arg;

    while (!atomic_load(&server->stop))
        serve_once(server, -1);
    for (size_t i = 0; i < server->service.slots; i++)
        bbf_session_close(&server->sessions[i]);
    close_atomic(&server->listen_fd);
    close_atomic(&server->tcp_fd);
    pthread_mutex_lock(&server->mutex);
    server->done = true;
    bool abandoned = server->abandoned;
    pthread_cond_signal(&server->ended);
    pthread_mutex_unlock(&server->mutex);
    if (abandoned)
        server_free(server);
    return NULL;
}

static int start_thread(struct bbf_server *server)
{
    int err = bbf_spawn(&server->thread, STACK_BYTES, serve, server);

    if (err == BBF_OK)
        pthread_setname_np(server->thread, "bbflow-server");
    return err;
}

static void unlink_own(const struct bbf_server *server)
{
    struct stat st;

    if (server->path[0] != '\0' && lstat(server->path, &st) == 0 && st.st_dev == server->dev &&
        st.st_ino == server->ino)
        unlink(server->path);
}

int bbf_server_start(struct bbf_server **out, const struct bbf_server_config *config, char *why,
                     size_t why_size)
{
    struct bbf_server *server;

    *out = NULL;
    if (why_size > 0)
        why[0] = '\0';
    if (config->probe_id == NULL || config->max_clients == 0 || config->event == NULL) {
        snprintf(why, why_size, "a server needs a probe's id, an event callback and a client");
        return BBF_EINVAL;
    }
    int err = server_new(&server, config);
    if (err != BBF_OK) {
        snprintf(why, why_size, "no server: %s", bbf_strerror(err));
        return err;
    }
    err = listen_everywhere(server, config, why, why_size);
    if (err == BBF_OK && !leaves_descriptors()) {
        unlink_own(server);
        snprintf(why, why_size,
                 "fewer than 8 descriptors would be left to the application (ulimit "
                 "-n is too low)");
        err = BBF_ELIMIT;
    }
    if (err != BBF_OK) {
        server_free(server);
        return err;
    }
    if (start_thread(server) != BBF_OK) {
        snprintf(why, why_size,
                 "%s: no thread to serve it: the limit of threads or memory is reached",
                 server->path);
        unlink_own(server);
        server_free(server);
        return BBF_EIO;
    }
    *out = server;
    return BBF_OK;
}

static void wake(struct bbf_server *server)
{
    uint64_t one = 1;

    /* Cannot fail but by a full counter, and then the thread is awake. */
    if (write(atomic_load(&server->wake_fd), &one, sizeof one) < 0)
        return;
}

/* True: the thread has ended. False: it is left behind, and frees the server when it ends. */
static bool wait_for_end(struct bbf_server *server, unsigned timeout_ms)
{
    struct timespec until;
    int error = 0;

    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += timeout_ms / 1000;
    until.tv_nsec += (long)(timeout_ms % 1000) * 1000000;
    if (until.tv_nsec >= 1000000000) {
        until.tv_sec++;
        until.tv_nsec -= 1000000000;
    }
    pthread_mutex_lock(&server->mutex);
    while (!server->done && error == 0)
        error = pthread_cond_timedwait(&server->ended, &server->mutex, &until);
    bool done = server->done;
    if (!done) {
        /* It is inside a callback and uses this memory. No client may queue up. */
        server->abandoned = true;
        shutdown(atomic_load(&server->listen_fd), SHUT_RDWR);
        shutdown(atomic_load(&server->tcp_fd), SHUT_RDWR);
        pthread_detach(server->thread);
    }
    pthread_mutex_unlock(&server->mutex);
    return done;
}

void bbf_server_stop(struct bbf_server *server, unsigned timeout_ms)
{
    if (server == NULL || server->forgotten)
        return;
    atomic_store(&server->stop, true);
    unlink_own(server);
    wake(server);
    if (wait_for_end(server, timeout_ms)) {
        pthread_join(server->thread, NULL);
        server_free(server);
    }
}

void bbf_server_forget(struct bbf_server *server)
{
    if (server == NULL)
        return;
    server->forgotten = true;
    close_atomic(&server->listen_fd);
    close_atomic(&server->tcp_fd);
    close_atomic(&server->wake_fd);
    for (size_t i = 0; i < server->service.slots; i++)
        close_atomic(&server->sessions[i].fd);
}

size_t bbf_server_clients(const struct bbf_server *server)
{
    size_t n = 0;
    for (size_t i = 0; i < server->service.slots; i++)
        n += atomic_load(&server->sessions[i].fd) >= 0;
    return n;
}

const char *bbf_server_path(const struct bbf_server *server)
{
    return server->path;
}

uint16_t bbf_server_port(const struct bbf_server *server)
{
    return server->port;
}

bool bbf_server_publish(struct bbf_server *server, const char *text, size_t len)
{
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    bool added = bbf_live_add(&server->service.live,
                              (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000, text, len);
    wake(server);
    return added;
}

uint64_t bbf_server_published(const struct bbf_server *server)
{
    return atomic_load(&server->service.live.head);
}

size_t bbf_server_watchers(const struct bbf_server *server)
{
    size_t n = 0;
    for (size_t i = 0; i < server->service.slots; i++)
        n += atomic_load(&server->sessions[i].fd) >= 0 && atomic_load(&server->sessions[i].begun);
    return n;
}

void bbf_server_unpublish(struct bbf_server *server)
{
    bbf_live_clear(&server->service.live);
}

void bbf_server_get_stats(const struct bbf_server *server, struct bbf_server_stats *stats)
{
    const struct bbf_service *service = &server->service;

    *stats = (struct bbf_server_stats){
        .accepted = atomic_load_explicit(&service->accepted, memory_order_relaxed),
        .refused = atomic_load_explicit(&service->refused, memory_order_relaxed),
        .malformed = atomic_load_explicit(&service->malformed, memory_order_relaxed),
        .commands = atomic_load_explicit(&service->commands, memory_order_relaxed),
        .dropped = atomic_load_explicit(&service->dropped, memory_order_relaxed),
        .crowded = atomic_load_explicit(&service->crowded, memory_order_relaxed),
        .late = atomic_load_explicit(&service->late, memory_order_relaxed),
        .unauthorized = atomic_load_explicit(&service->unauthorized, memory_order_relaxed),
        .most_input = atomic_load_explicit(&service->most_input, memory_order_relaxed),
        .lost = atomic_load_explicit(&service->lost, memory_order_relaxed),
        .cpu_ns = atomic_load_explicit(&server->cpu_ns, memory_order_relaxed),
    };
}
