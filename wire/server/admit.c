/* SPDX-License-Identifier: Apache-2.0 */
#include "wire/server/admit.h"

#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/clock.h"
#include "wire/refusal.h"

enum { STUCK_MS = 2000 };

/* ---- Whose a connection is ------------------------------------------------------------------- */

struct question {
    struct nlmsghdr head;
    struct inet_diag_req_v2 what;
};

/* The other end's socket is on this host: ask the kernel for that one by its two addresses. */
static bool question_of(int fd, struct question *q)
{
    struct sockaddr_in own, peer;
    socklen_t own_len = sizeof own, peer_len = sizeof peer;

    if (getsockname(fd, (struct sockaddr *)&own, &own_len) != 0 ||
        getpeername(fd, (struct sockaddr *)&peer, &peer_len) != 0 || own.sin_family != AF_INET)
        return false;
    *q = (struct question){
        .head = {.nlmsg_len = sizeof *q,
                 .nlmsg_type = SOCK_DIAG_BY_FAMILY,
                 .nlmsg_flags = NLM_F_REQUEST},
        .what = {.sdiag_family = AF_INET,
                 .sdiag_protocol = IPPROTO_TCP,
                 .idiag_states = UINT32_MAX,
                 .id = {.idiag_sport = peer.sin_port,
                        .idiag_dport = own.sin_port,
                        .idiag_src = {peer.sin_addr.s_addr},
                        .idiag_dst = {own.sin_addr.s_addr},
                        .idiag_cookie = {INET_DIAG_NOCOOKIE, INET_DIAG_NOCOOKIE}}}};
    return true;
}

/* An answer is there when send() returns. One without an inode has no process any more. */
static enum bbf_peer ask_kernel(int diag, int fd, uid_t *uid)
{
    struct question q;
    union {
        struct nlmsghdr head;
        char bytes[1024];
    } answer;
    struct inet_diag_msg found;

    if (!question_of(fd, &q) || send(diag, &q, sizeof q, 0) != (ssize_t)sizeof q)
        return BBF_PEER_UNKNOWN;
    ssize_t n = recv(diag, &answer, sizeof answer, MSG_DONTWAIT);
    if (n < (ssize_t)(NLMSG_HDRLEN + sizeof found) || answer.head.nlmsg_type != SOCK_DIAG_BY_FAMILY)
        return BBF_PEER_UNKNOWN;
    memcpy(&found, answer.bytes + NLMSG_HDRLEN, sizeof found);
    if (found.idiag_inode == 0)
        return BBF_PEER_UNKNOWN;
    *uid = found.idiag_uid;
    return BBF_PEER_KNOWN;
}

static bool waits(const struct bbf_session *session)
{
    return session->waiting && !session->busy && atomic_load(&session->fd) >= 0;
}

/* Each is asked for once: the user of a connection does not change. */
static void look_up_peers(struct bbf_service *service)
{
    int diag = service->config.peers_unknown
                   ? -1
                   : socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);

    for (size_t i = 0; i < service->slots; i++) {
        struct bbf_session *session = &service->sessions[i];
        if (!waits(session) || session->peer != BBF_PEER_NOT_ASKED)
            continue;
        session->peer = diag < 0 ? BBF_PEER_UNKNOWN
                                 : ask_kernel(diag, atomic_load(&session->fd), &session->uid);
    }
    if (diag >= 0)
        close(diag);
}

static bool same_user(const struct bbf_session *a, const struct bbf_session *b)
{
    return a->peer == b->peer && (a->peer != BBF_PEER_KNOWN || a->uid == b->uid);
}

/* Known to be neither the JVM's user nor root. */
static bool is_stranger(const struct bbf_session *session)
{
    return session->peer == BBF_PEER_KNOWN && session->uid != 0 && session->uid != geteuid();
}

/* ---- Waiting --------------------------------------------------------------------------------- */

void bbf_admit_end(struct bbf_session *session, const char *why)
{
    char text[8], waste[4096];
    int fd = atomic_load(&session->fd);

    /* A close with unread input would take these bytes away from the peer. */
    (void)recv(fd, waste, sizeof waste, MSG_DONTWAIT);
    memcpy(text, "BTAF", 4);
    memcpy(text + 4, why, 4);
    if (send(fd, text, sizeof text, MSG_NOSIGNAL | MSG_DONTWAIT) == (ssize_t)sizeof text)
        (void)shutdown(fd, SHUT_WR);
    bbf_session_close(session);
}

static bool has_spoken(const struct bbf_session *session)
{
    struct pollfd in = {.fd = atomic_load(&session->fd), .events = POLLIN};

    return poll(&in, 1, 0) > 0;
}

/* How many wait of the user of `like` (NULL: of all). */
static size_t count_waiting(const struct bbf_service *service, const struct bbf_session *like)
{
    size_t n = 0;

    for (size_t i = 0; i < service->slots; i++) {
        const struct bbf_session *session = &service->sessions[i];
        n += waits(session) && (like == NULL || same_user(session, like));
    }
    return n;
}

/* Of the user of `like`: one that was refused already, else the oldest that has said nothing new,
 * else the oldest; never `like` itself. */
static struct bbf_session *oldest_waiting(struct bbf_service *service,
                                          const struct bbf_session *like)
{
    struct bbf_session *oldest = NULL, *silent = NULL;

    for (size_t i = 0; i < service->slots; i++) {
        struct bbf_session *session = &service->sessions[i];
        if (!waits(session) || session == like || !same_user(session, like))
            continue;
        if (session->state == BBF_LINGER)
            return session;
        if (oldest == NULL || session->number < oldest->number)
            oldest = session;
        if ((silent == NULL || session->number < silent->number) && !has_spoken(session))
            silent = session;
    }
    return silent != NULL ? silent : oldest;
}

/* One of the user who has the most waiting; of several such users the one who came first. */
static struct bbf_session *one_of_most(struct bbf_service *service)
{
    struct bbf_session *of_most = NULL;
    size_t most = 0;

    for (size_t i = 0; i < service->slots; i++) {
        struct bbf_session *session = &service->sessions[i];
        size_t n = waits(session) ? count_waiting(service, session) : 0;
        if (n > most || (n > 0 && n == most && session->number < of_most->number)) {
            most = n;
            of_most = session;
        }
    }
    return of_most;
}

/* `newest` waits, and has a slot: one too many, perhaps. */
static void make_room(struct bbf_service *service, struct bbf_session *newest)
{
    size_t most = service->config.max_waiting, each = (most + 3) / 4;
    size_t n = count_waiting(service, NULL);
    struct bbf_session *leaves = NULL;

    if (n <= each && n <= most)
        return;
    look_up_peers(service);
    if (is_stranger(newest) && count_waiting(service, newest) > each)
        leaves = oldest_waiting(service, newest);
    if (leaves == NULL && n > most) {
        struct bbf_session *of_most = one_of_most(service);
        leaves = oldest_waiting(service, of_most);
        if (leaves == NULL)
            leaves = of_most;
    }
    if (leaves == NULL)
        return;
    atomic_fetch_add_explicit(&service->crowded, 1, memory_order_relaxed);
    bbf_admit_end(leaves, BBF_WHY_BUSY);
}

/* ---- Clients --------------------------------------------------------------------------------- */

/* Over TCP a quarter less, unless there is one place only. */
static size_t places(const struct bbf_service *service, bool tcp)
{
    size_t max = service->config.max_clients;

    return tcp && max > 1 ? max - (max + 3) / 4 : max;
}

static size_t count_clients(const struct bbf_service *service, bool tcp)
{
    size_t n = 0;

    for (size_t i = 0; i < service->slots; i++) {
        const struct bbf_session *session = &service->sessions[i];
        n += atomic_load(&session->fd) >= 0 && !session->waiting && (!tcp || session->tcp);
    }
    return n;
}

static bool is_stuck(const struct bbf_session *session, int64_t now)
{
    return (session->state < BBF_BOUND || session->out.bytes > 0) &&
           now - session->moved >= STUCK_MS;
}

/* Send the client away that has been stuck longest. False: none is. */
static bool drop_stuck(struct bbf_service *service, bool tcp)
{
    struct bbf_session *longest = NULL;
    int64_t now = bbf_monotonic_ms();

    for (size_t i = 0; i < service->slots; i++) {
        struct bbf_session *session = &service->sessions[i];
        if (atomic_load(&session->fd) < 0 || session->waiting || session->busy ||
            (tcp && !session->tcp) || !is_stuck(session, now))
            continue;
        if (longest == NULL || session->moved < longest->moved)
            longest = session;
    }
    if (longest == NULL)
        return false;
    atomic_fetch_add_explicit(&service->dropped, 1, memory_order_relaxed);
    bbf_session_close(longest);
    return true;
}

static bool has_place(struct bbf_service *service, bool tcp)
{
    if (tcp && count_clients(service, true) >= places(service, true) && !drop_stuck(service, true))
        return false;
    return count_clients(service, false) < places(service, false) || drop_stuck(service, tcp);
}

/* auth=off lets every user in: no stranger takes more than half of the places from the others. */
static bool may_have_more(struct bbf_service *service, const struct bbf_session *session)
{
    size_t n = 0;

    if (service->token != NULL || !is_stranger(session))
        return true;
    for (size_t i = 0; i < service->slots; i++) {
        const struct bbf_session *other = &service->sessions[i];
        n += atomic_load(&other->fd) >= 0 && !other->waiting && other->tcp &&
             same_user(other, session);
    }
    return n < (places(service, true) + 1) / 2;
}

bool bbf_admit_client(struct bbf_service *service, struct bbf_session *session)
{
    if (service->token == NULL)
        look_up_peers(service);
    if (!may_have_more(service, session) || !has_place(service, session->tcp)) {
        atomic_fetch_add_explicit(&service->refused, 1, memory_order_relaxed);
        return false;
    }
    session->waiting = false;
    return true;
}

struct bbf_session *bbf_admit(struct bbf_service *service, int fd, bool tcp)
{
    struct bbf_session *session = NULL;
    bool place = tcp || has_place(service, false);

    for (size_t i = 0; i < service->slots && session == NULL; i++) {
        if (atomic_load(&service->sessions[i].fd) < 0)
            session = &service->sessions[i];
    }
    if (session == NULL) { /* callbacks inside each other keep the slots of those that wait */
        atomic_fetch_add_explicit(&service->refused, 1, memory_order_relaxed);
        close(fd);
        return NULL;
    }
    session->number = ++service->opened;
    bbf_session_open(service, session, fd, tcp);
    if (!place) {
        atomic_fetch_add_explicit(&service->refused, 1, memory_order_relaxed);
        bbf_admit_end(session, BBF_WHY_FULL);
        return NULL;
    }
    if (tcp)
        make_room(service, session);
    return session;
}
