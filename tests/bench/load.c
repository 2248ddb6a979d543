/*
 * load PORT CONNECTIONS PIPELINE [RATE [STEP]]: HTTP/1.1 from one thread in a closed loop, until
 * stdin, a pipe, ends; at most RATE requests a second; a tenth of it in every second STEP seconds.
 * On each connection a batch of PIPELINE requests is sent, the answers are read, the next batch is
 * sent. All answers must be as long as the first one: they are counted by their bytes. A 'p' on
 * stdin is a pause, 'g' continues. A pause begins, as the end does, when every batch that is under
 * way is answered, so that a server has done exactly the work that is printed: at a pause the
 * requests answered so far, at the end them, those a second, and the latency of a batch.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <math.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdbool.h>
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

static struct {
    int n, pipeline, flying; /* connections, of them those that wait for answers */
    long size, answered;
    double begun, took;
    double rate, step,
        due; /* requests a second, 0: any; seconds, 0: one rate; when the next batch is due */
    bool pausing, ending;
} load;

static double rate_at(double when)
{
    return load.step > 0 && fmod(when / load.step, 2) >= 1 ? load.rate / 10 : load.rate;
}

/* One thread: while it sleeps the other connections wait also. */
static void pace(void)
{
    double begin = now(), ahead = load.due - begin;

    if (load.rate <= 0)
        return;
    if (ahead > 0)
        usleep((useconds_t)(ahead * 1e6));
    load.due = (ahead > -1 ? load.due : begin) + load.pipeline / rate_at(begin);
}

static void go(void)
{
    load.pausing = false;
    load.begun = now();
    for (int i = 0; i < load.n; i++)
        send_batch(&connections[i], load.size, load.pipeline);
    load.flying = load.n;
}

static void obey(int epoll)
{
    char command;

    if (read(STDIN_FILENO, &command, 1) != 1) {
        load.ending = true;
        epoll_ctl(epoll, EPOLL_CTL_DEL, STDIN_FILENO, NULL);
    } else if (command == 'p') {
        load.pausing = true;
    } else if (load.flying == 0) {
        go();
    }
}

static void answer(struct connection *c)
{
    load.answered += load.pipeline;
    if (n_latencies < MAX_LATENCIES)
        latencies[n_latencies++] = (float)(now() - c->begun);
    if (!load.ending && !load.pausing) {
        pace();
        send_batch(c, load.size, load.pipeline);
    } else if (--load.flying == 0) {
        load.took += now() - load.begun;
        if (!load.ending)
            printf("requests=%ld\n", load.answered + 1);
        fflush(stdout);
    }
}

static void run(int epoll)
{
    struct epoll_event ready[64];

    while (load.flying > 0 || !load.ending) {
        int got = epoll_wait(epoll, ready, 64, load.flying > 0 ? 10000 : -1);

        if (got <= 0)
            fail("no answer for 10 s");
        for (int i = 0; i < got; i++) {
            struct connection *c = ready[i].data.ptr;

            if (!c)
                obey(epoll);
            else if (read_some(c))
                answer(c);
        }
    }
}

static double percentile(double share)
{
    return (double)latencies[(size_t)((double)(n_latencies - 1) * share)] * 1e6;
}

int main(int argc, char **argv)
{
    bool complete = argc >= 4 && argc <= 6;
    int port = complete ? atoi(argv[1]) : 0;
    int n = complete ? atoi(argv[2]) : 0;
    int pipeline = complete ? atoi(argv[3]) : 0;

    if (port < 1 || n < 1 || n > MAX_CONNECTIONS || pipeline < 1 || pipeline > MAX_PIPELINE) {
        fprintf(stderr, "load PORT CONNECTIONS PIPELINE [RATE [STEP]]\n");
        return 2;
    }
    long size = answer_size(port);
    int epoll = epoll_create1(EPOLL_CLOEXEC);
    struct epoll_event end = {.events = EPOLLIN, .data.ptr = NULL};

    for (int i = 0; i < pipeline; i++)
        memcpy(batch + (size_t)i * (sizeof REQUEST - 1), REQUEST, sizeof REQUEST - 1);
    if (epoll_ctl(epoll, EPOLL_CTL_ADD, STDIN_FILENO, &end) < 0)
        fail("stdin");

    for (int i = 0; i < n; i++) {
        struct epoll_event event = {.events = EPOLLIN, .data.ptr = &connections[i]};

        connections[i].fd = connect_to(port);
        if (epoll_ctl(epoll, EPOLL_CTL_ADD, connections[i].fd, &event) < 0)
            fail("epoll_ctl");
    }
    load.n = n;
    load.rate = argc > 4 ? atof(argv[4]) : 0;
    load.step = argc > 5 ? atof(argv[5]) : 0;
    load.pipeline = pipeline;
    load.size = size;
    go();
    run(epoll);

    qsort(latencies, n_latencies, sizeof latencies[0], by_value);
    printf("requests=%ld rps=%.0f p50_us=%.0f p99_us=%.0f\n", load.answered + 1,
           (double)load.answered / load.took, percentile(0.5), percentile(0.99));
    return 0;
}
