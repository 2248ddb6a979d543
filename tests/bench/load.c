/*
 * load PORT CONNECTIONS PIPELINE: HTTP/1.1 from one thread in a closed loop, until stdin, a pipe,
 * ends. On each connection a batch of PIPELINE requests is sent, the answers are read, the next
 * batch is sent. Prints one line: the requests answered, those a second, and the latency of a
 * batch. All answers must be as long as the first one: they are counted by their bytes. Ends when
 * every batch that is under way is answered, so that a server has done exactly the work that is
 * printed.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { MAX_CONNECTIONS = 256, MAX_PIPELINE = 64, MAX_LATENCIES = 1 << 21 };

static const char REQUEST[] = "GET / HTTP/1.1\r\nHost: localhost\r\nConnection: keep-alive\r\n"
                              "Accept: */*\r\nUser-Agent: bbflow-load/1\r\n\r\n";

struct connection {
    int fd;
    long owed; /* bytes of the batch that are still to come */
    double begun;
};

static struct connection connections[MAX_CONNECTIONS];
static float latencies[MAX_LATENCIES];
static size_t n_latencies;
static char batch[MAX_PIPELINE * (sizeof REQUEST - 1)];
static char buffer[65536];

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void fail(const char *what)
{
    perror(what);
    exit(1);
}

static int connect_to(int port)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((unsigned short)port)};
    int one = 1;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof address) < 0)
        fail("connect");
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    return fd;
}

/* Bytes of one answer: asked once, until the server is silent for a moment. */
static long answer_size(int port)
{
    int fd = connect_to(port);
    struct timeval patience = {.tv_usec = 50000};
    long size = 0;
    ssize_t got;

    if (write(fd, REQUEST, sizeof REQUEST - 1) < 0)
        fail("write");
    got = read(fd, buffer, sizeof buffer);
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    while (got > 0) {
        size += got;
        got = read(fd, buffer, sizeof buffer);
    }
    close(fd);
    if (size == 0) {
        fprintf(stderr, "load: no answer\n");
        exit(1);
    }
    return size;
}

static void send_batch(struct connection *c, long size, int pipeline)
{
    size_t length = (size_t)pipeline * (sizeof REQUEST - 1);

    c->owed = size * pipeline;
    c->begun = now();
    if (write(c->fd, batch, length) != (ssize_t)length)
        fail("write");
}

/* One read; true when the batch is whole. */
static int read_some(struct connection *c)
{
    ssize_t got = read(c->fd, buffer, sizeof buffer);

    if (got <= 0)
        fail("connection lost");
    c->owed -= got;
    if (c->owed < 0) {
        fprintf(stderr, "load: answers differ in length\n");
        exit(1);
    }
    return c->owed == 0;
}

static int by_value(const void *a, const void *b)
{
    float x = *(const float *)a;
    float y = *(const float *)b;

    return (x > y) - (x < y);
}

static long run(int epoll, int n, int pipeline, long size)
{
    struct epoll_event ready[64];
    long answered = 0;
    int flying = n;
    int ending = 0;

    while (flying > 0) {
        int got = epoll_wait(epoll, ready, 64, 10000);

        if (got <= 0)
            fail("no answer for 10 s");
        for (int i = 0; i < got; i++) {
            struct connection *c = ready[i].data.ptr;

            if (!c) { /* stdin: nothing is ever written to it */
                ending = 1;
                epoll_ctl(epoll, EPOLL_CTL_DEL, STDIN_FILENO, NULL);
                continue;
            }
            if (!read_some(c))
                continue;
            answered += pipeline;
            if (n_latencies < MAX_LATENCIES)
                latencies[n_latencies++] = (float)(now() - c->begun);
            if (!ending)
                send_batch(c, size, pipeline);
            else
                flying--;
        }
    }
    return answered;
}

static double percentile(double share)
{
    return (double)latencies[(size_t)((double)(n_latencies - 1) * share)] * 1e6;
}

int main(int argc, char **argv)
{
    int port = argc == 4 ? atoi(argv[1]) : 0;
    int n = argc == 4 ? atoi(argv[2]) : 0;
    int pipeline = argc == 4 ? atoi(argv[3]) : 0;

    if (port < 1 || n < 1 || n > MAX_CONNECTIONS || pipeline < 1 || pipeline > MAX_PIPELINE) {
        fprintf(stderr, "load PORT CONNECTIONS PIPELINE\n");
        return 2;
    }
    long size = answer_size(port);
    int epoll = epoll_create1(EPOLL_CLOEXEC);
    struct epoll_event end = {.events = EPOLLIN, .data.ptr = NULL};

    for (int i = 0; i < pipeline; i++)
        memcpy(batch + (size_t)i * (sizeof REQUEST - 1), REQUEST, sizeof REQUEST - 1);
    if (epoll_ctl(epoll, EPOLL_CTL_ADD, STDIN_FILENO, &end) < 0)
        fail("stdin");
    double start = now();

    for (int i = 0; i < n; i++) {
        struct epoll_event event = {.events = EPOLLIN, .data.ptr = &connections[i]};

        connections[i].fd = connect_to(port);
        if (epoll_ctl(epoll, EPOLL_CTL_ADD, connections[i].fd, &event) < 0)
            fail("epoll_ctl");
        send_batch(&connections[i], size, pipeline);
    }
    long answered = run(epoll, n, pipeline, size);
    double took = now() - start;

    qsort(latencies, n_latencies, sizeof latencies[0], by_value);
    printf("requests=%ld rps=%.0f p50_us=%.0f p99_us=%.0f\n", answered + 1, (double)answered / took,
           percentile(0.5), percentile(0.99));
    return 0;
}
