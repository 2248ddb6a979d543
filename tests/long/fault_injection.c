/*
 * tests/long/fault_injection.c - makes a chosen call that libbbflow.so makes fail; nobody else's.
 * Loaded by LD_PRELOAD (libc's calls) and, the same file, by -agentpath before ours (calls of JNI,
 * JVMTI and the invocation interface, whose function tables it replaces). Used by
 * tests/long/fault-injection.
 *
 * A call is libbbflow's if its return address lies in libbbflow's mapping. The environment names
 * the fault: BBF_FAULT=CLASS:N[:COUNT], the N-th call of that class and COUNT-1 after it (0: all
 * after it) fail; without it calls are only counted. BBF_FAULT_FILE is a file of struct page that
 * outlives a crash; the runner reads it.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <jni.h>
#include <jvmti.h>
#include <link.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/poll.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

/* clang-format off */
#define CLASSES(XX) \
    XX(memory) XX(mmap) XX(mprotect) XX(madvise) XX(pthread_create) XX(pthread_key) XX(socket)     \
    XX(bind) XX(listen) XX(accept) XX(send) XX(recv) XX(poll) XX(eventfd) XX(open) XX(write)       \
    XX(rename) XX(close) XX(mkdir) XX(unlink) XX(getrandom) XX(stat) XX(fchmod) XX(dup3) XX(fread) \
    XX(connect) XX(getsockopt) XX(pthread_attr) XX(pthread_misc) XX(dl)                   \
    XX(exhausted) XX(send_short) XX(write_short) XX(recv_short) XX(interrupted) XX(aborted)        \
    XX(death) XX(death_scan) XX(death_apply)                                                       \
    XX(NewWeakGlobalRef) XX(NewGlobalRef) XX(NewLocalRef) XX(DefineClass) XX(FindClass)            \
    XX(GetMethodID) XX(GetStaticMethodID) XX(GetFieldID) XX(GetStaticFieldID) XX(PushLocalFrame)   \
    XX(NewStringUTF) XX(GetStaticObjectField) XX(CallStaticVoidMethod) XX(CallStaticObjectMethod)  \
    XX(CallObjectMethod) XX(CallIntMethod) XX(CallLongMethod) XX(GetStringUTFChars)                \
    XX(GetObjectArrayElement) XX(SetObjectArrayElement)                                            \
    XX(GetEnv) XX(AttachCurrentThreadAsDaemon) XX(DetachCurrentThread)                             \
    XX(Allocate) XX(AddCapabilities) XX(SetEventCallbacks) XX(SetEventNotificationMode)            \
    XX(GetSystemProperty) XX(GetLoadedClasses) XX(GetClassSignature) XX(GetClassLoader)            \
    XX(IsModifiableClass) XX(RetransformClasses) XX(GetClassFields) XX(GetFieldName)               \
    XX(GetImplementedInterfaces) XX(ForceGarbageCollection) XX(DisposeEnvironment)
/* clang-format on */

enum class {
#define XX(name) F_##name,
    CLASSES(XX)
#undef XX
        CLASS_COUNT
};

static const char *const names[] = {
#define XX(name) #name,
    CLASSES(XX)
#undef XX
};

/* What the runner reads: little words, in this order. */
struct page {
    _Atomic uint64_t fired, where; /* how often; offset in libbbflow.so of the first one */
    _Atomic uint64_t calls[CLASS_COUNT];
};

static struct page nowhere, *page = &nowhere;
static uintptr_t low, high; /* libbbflow's mapping */
static enum class which = CLASS_COUNT;
static uint64_t first, last;

static bool should_fail(enum class class, void *from)
{
    uintptr_t at = (uintptr_t)from;
    if (at < low || at >= high)
        return false;
    uint64_t n = atomic_fetch_add(&page->calls[class], 1) + 1;
    if (class != which || n < first || n > last)
        return false;
    if (atomic_fetch_add(&page->fired, 1) == 0)
        atomic_store(&page->where, at - low);
    return true;
}
#define FAILS(class) should_fail(F_##class, __builtin_return_address(0))

/* All that gives memory, as one class: what is used up is used up for each of them. */
#define NO_MEMORY(class) (FAILS(class) || FAILS(exhausted))

static int find_agent(struct dl_phdr_info *info, size_t size, void *unused)
{
    (void)size;
    (void)unused;
    if (info->dlpi_name == NULL || strstr(info->dlpi_name, "libbbflow.so") == NULL)
        return 0;
    uintptr_t end = info->dlpi_addr;
    for (int i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_LOAD)
            end = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr + info->dlpi_phdr[i].p_memsz;
    low = info->dlpi_addr;
    high = end;
    return 1;
}

__attribute__((constructor)) static void begin(void)
{
    const char *file = getenv("BBF_FAULT_FILE"), *fault = getenv("BBF_FAULT");
    int fd = file != NULL ? open(file, O_RDWR | O_CLOEXEC) : -1;
    if (fd >= 0) {
        void *base = mmap(NULL, sizeof *page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        if (base != MAP_FAILED)
            page = base;
        close(fd);
    }
    for (int i = 0; fault != NULL && i < CLASS_COUNT; i++) {
        size_t len = strlen(names[i]);
        if (strncmp(fault, names[i], len) != 0 || fault[len] != ':')
            continue;
        unsigned long long n = 0, count = 1;
        sscanf(fault + len + 1, "%llu:%llu", &n, &count);
        which = (enum class)i;
        first = n;
        last = count == 0 ? UINT64_MAX : n + count - 1;
    }
}

/* ---- libc ---- */

void *__libc_malloc(size_t);
void *__libc_calloc(size_t, size_t);
void *__libc_realloc(void *, size_t);
void *__libc_memalign(size_t, size_t);

#define REAL(name)                                                                                 \
    static __typeof__(name) *real;                                                                 \
    if (real == NULL)                                                                              \
    real = (__typeof__(name) *)(uintptr_t)dlsym(RTLD_NEXT, #name)

void *dlopen(const char *path, int flags)
{
    REAL(dlopen);
    void *handle = real(path, flags);
    if (low == 0 && path != NULL && strstr(path, "libbbflow.so") != NULL)
        dl_iterate_phdr(find_agent, NULL);
    return handle;
}

static void *no_memory(void)
{
    errno = ENOMEM;
    return NULL;
}

void *malloc(size_t size)
{
    return NO_MEMORY(memory) ? no_memory() : __libc_malloc(size);
}

void *calloc(size_t n, size_t size)
{
    return NO_MEMORY(memory) ? no_memory() : __libc_calloc(n, size);
}

void *realloc(void *old, size_t size)
{
    return NO_MEMORY(memory) ? no_memory() : __libc_realloc(old, size);
}

void *reallocarray(void *old, size_t n, size_t size)
{
    size_t bytes;
    if (NO_MEMORY(memory) || __builtin_mul_overflow(n, size, &bytes))
        return no_memory();
    return __libc_realloc(old, bytes);
}

int posix_memalign(void **out, size_t alignment, size_t size)
{
    if (NO_MEMORY(memory))
        return ENOMEM;
    *out = __libc_memalign(alignment, size);
    return *out != NULL ? 0 : ENOMEM;
}

static char *copy(const char *text, size_t len)
{
    char *to = __libc_malloc(len + 1);
    if (to == NULL)
        return NULL;
    memcpy(to, text, len);
    to[len] = '\0';
    return to;
}

char *strdup(const char *text)
{
    return NO_MEMORY(memory) ? no_memory() : copy(text, strlen(text));
}

char *strndup(const char *text, size_t max)
{
    return NO_MEMORY(memory) ? no_memory() : copy(text, strnlen(text, max));
}

void *mmap(void *at, size_t len, int prot, int flags, int fd, off_t offset)
{
    REAL(mmap);
    if (!NO_MEMORY(mmap))
        return real(at, len, prot, flags, fd, offset);
    errno = ENOMEM;
    return MAP_FAILED;
}

/* An int function that fails with -1 and an error of its kind. */
#define FAILING(class, error, name, parameters, arguments)                                         \
    int name parameters                                                                            \
    {                                                                                              \
        REAL(name);                                                                                \
        if (!FAILS(class))                                                                         \
            return real arguments;                                                                 \
        errno = error;                                                                             \
        return -1;                                                                                 \
    }

FAILING(madvise, EINVAL, madvise, (void *at, size_t len, int advice), (at, len, advice))
FAILING(socket, EMFILE, socket, (int domain, int type, int protocol), (domain, type, protocol))
FAILING(bind, EADDRINUSE, bind, (int fd, const struct sockaddr *a, socklen_t len), (fd, a, len))
FAILING(listen, EADDRINUSE, listen, (int fd, int backlog), (fd, backlog))
FAILING(eventfd, EMFILE, eventfd, (unsigned count, int flags), (count, flags))
FAILING(rename, EIO, renameat, (int a, const char *from, int b, const char *to), (a, from, b, to))
FAILING(mkdir, ENOSPC, mkdir, (const char *path, mode_t mode), (path, mode))
FAILING(unlink, EIO, unlink, (const char *path), (path))
FAILING(unlink, EIO, unlinkat, (int folder, const char *path, int flags), (folder, path, flags))
FAILING(stat, EIO, fstat, (int fd, struct stat *out), (fd, out))
FAILING(stat, EIO, lstat, (const char *path, struct stat *out), (path, out))
FAILING(stat, EIO, fstatat, (int folder, const char *path, struct stat *out, int flags),
        (folder, path, out, flags))
FAILING(fchmod, EPERM, fchmod, (int fd, mode_t mode), (fd, mode))
FAILING(dup3, EMFILE, dup3, (int from, int to, int flags), (from, to, flags))
FAILING(connect, ECONNREFUSED, connect, (int fd, const struct sockaddr *a, socklen_t len),
        (fd, a, len))
FAILING(getsockopt, ENOBUFS, getsockopt, (int fd, int level, int name, void *out, socklen_t *len),
        (fd, level, name, out, len))

int mprotect(void *at, size_t len, int prot)
{
    REAL(mprotect);
    if (!NO_MEMORY(mprotect))
        return real(at, len, prot);
    errno = ENOMEM;
    return -1;
}

/* A call of a kind that a signal may end; nothing is lost by it. */
static bool interrupted(void *from)
{
    if (!should_fail(F_interrupted, from))
        return false;
    errno = EINTR;
    return true;
}
#define INTERRUPTED() interrupted(__builtin_return_address(0))

int accept4(int fd, struct sockaddr *a, socklen_t *len, int flags)
{
    REAL(accept4);
    if (INTERRUPTED())
        return -1;
    if (FAILS(accept)) {
        errno = EMFILE;
        return -1;
    }
    int result = real(fd, a, len, flags);
    if (result >= 0 && FAILS(aborted)) { /* the peer had gone before it was taken */
        close(result);
        errno = ECONNABORTED;
        return -1;
    }
    return result;
}

int poll(struct pollfd *fds, nfds_t n, int timeout)
{
    REAL(poll);
    if (INTERRUPTED())
        return -1;
    if (!FAILS(poll))
        return real(fds, n, timeout);
    errno = ENOMEM;
    return -1;
}

/* ENOSYS or the like: what is not vital of threads. */
int pthread_setname_np(pthread_t thread, const char *name)
{
    REAL(pthread_setname_np);
    return FAILS(pthread_misc) ? ENOENT : real(thread, name);
}

int pthread_sigmask(int how, const sigset_t *set, sigset_t *before)
{
    REAL(pthread_sigmask);
    return FAILS(pthread_misc) ? EINVAL : real(how, set, before);
}

int pthread_attr_init(pthread_attr_t *attributes)
{
    REAL(pthread_attr_init);
    return FAILS(pthread_attr) ? ENOMEM : real(attributes);
}

int pthread_attr_setstacksize(pthread_attr_t *attributes, size_t size)
{
    REAL(pthread_attr_setstacksize);
    return FAILS(pthread_attr) ? EINVAL : real(attributes, size);
}

int pthread_attr_setdetachstate(pthread_attr_t *attributes, int state)
{
    REAL(pthread_attr_setdetachstate);
    return FAILS(pthread_attr) ? EINVAL : real(attributes, state);
}

size_t fread(void *out, size_t size, size_t n, FILE *file)
{
    REAL(fread);
    return FAILS(fread) ? 0 : real(out, size, n, file);
}

int dladdr(const void *at, Dl_info *out)
{
    REAL(dladdr);
    return FAILS(dl) ? 0 : real(at, out);
}

/* close() releases the number even when it reports an error. */
int close(int fd)
{
    REAL(close);
    int result = real(fd);
    if (!FAILS(close))
        return result;
    errno = EIO;
    return -1;
}

ssize_t send(int fd, const void *data, size_t len, int flags)
{
    REAL(send);
    if (INTERRUPTED())
        return -1;
    if (len > 1 && FAILS(send_short))
        len /= 2;
    if (!FAILS(send))
        return real(fd, data, len, flags);
    errno = EPIPE;
    return -1;
}

ssize_t recv(int fd, void *data, size_t len, int flags)
{
    REAL(recv);
    if (INTERRUPTED())
        return -1;
    if (len > 1 && FAILS(recv_short))
        len = 1;
    if (!FAILS(recv))
        return real(fd, data, len, flags);
    errno = ECONNRESET;
    return -1;
}

ssize_t write(int fd, const void *data, size_t len)
{
    REAL(write);
    if (INTERRUPTED())
        return -1;
    if (len > 1 && FAILS(write_short))
        len /= 2;
    if (!FAILS(write))
        return real(fd, data, len);
    errno = ENOSPC;
    return -1;
}

int open(const char *path, int flags, ...)
{
    REAL(open);
    va_list args;
    va_start(args, flags);
    mode_t mode = (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(args, mode_t) : 0;
    va_end(args);
    if (!FAILS(open))
        return real(path, flags, mode);
    errno = EMFILE;
    return -1;
}

ssize_t getrandom(void *out, size_t len, unsigned flags)
{
    REAL(getrandom);
    if (!FAILS(getrandom))
        return real(out, len, flags);
    errno = ENOSYS;
    return -1;
}

int openat(int folder, const char *path, int flags, ...)
{
    REAL(openat);
    va_list args;
    va_start(args, flags);
    mode_t mode = (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(args, mode_t) : 0;
    va_end(args);
    if (!FAILS(open))
        return real(folder, path, flags, mode);
    errno = EMFILE;
    return -1;
}

FILE *fopen(const char *path, const char *mode)
{
    REAL(fopen);
    if (!FAILS(open))
        return real(path, mode);
    errno = EMFILE;
    return NULL;
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *),
                   void *arg)
{
    REAL(pthread_create);
    return FAILS(pthread_create) ? EAGAIN : real(thread, attributes, run, arg);
}

int pthread_key_create(pthread_key_t *key, void (*destroy)(void *))
{
    REAL(pthread_key_create);
    return FAILS(pthread_key) ? EAGAIN : real(key, destroy);
}

int pthread_setspecific(pthread_key_t key, const void *value)
{
    REAL(pthread_setspecific);
    return FAILS(pthread_key) ? ENOMEM : real(key, value);
}

/* The agent thread waits here: it dies of what no code of ours expects. */
int sem_timedwait(sem_t *semaphore, const struct timespec *until)
{
    REAL(sem_timedwait);
    if (FAILS(death))
        pthread_exit(NULL);
    if (INTERRUPTED())
        return -1;
    return real(semaphore, until);
}

/* ---- JNI ---- */

static struct JNINativeInterface_ jni;
static const struct JNINativeInterface_ *old;
static jclass out_of_memory; /* global reference */

/* The Java half of the failure: an exception is pending, as after the real one. */
static void throw_it(JNIEnv *env)
{
    (void)old->ThrowNew(env, out_of_memory, "injected");
}

#define JNI_FAILING(type, name, parameters, arguments, value)                                      \
    static type JNICALL jni_##name parameters                                                      \
    {                                                                                              \
        if (!FAILS(name))                                                                          \
            return old->name arguments;                                                            \
        throw_it(env);                                                                             \
        return value;                                                                              \
    }

/* The agent thread's end in the middle of a scan, or of what a client asked for. */
static pthread_t worker;
static bool has_worker;

static bool on_worker(void)
{
    return has_worker && pthread_equal(worker, pthread_self());
}

static jweak JNICALL jni_NewWeakGlobalRef(JNIEnv *env, jobject o)
{
    if (on_worker() && FAILS(death_scan))
        pthread_exit(NULL);
    if (!FAILS(NewWeakGlobalRef))
        return old->NewWeakGlobalRef(env, o);
    throw_it(env);
    return NULL;
}

JNI_FAILING(jobject, NewGlobalRef, (JNIEnv * env, jobject o), (env, o), NULL)
JNI_FAILING(jobject, NewLocalRef, (JNIEnv * env, jobject o), (env, o), NULL)
JNI_FAILING(jclass, DefineClass,
            (JNIEnv * env, const char *name, jobject loader, const jbyte *bytes, jsize len),
            (env, name, loader, bytes, len), NULL)
JNI_FAILING(jclass, FindClass, (JNIEnv * env, const char *name), (env, name), NULL)
JNI_FAILING(jmethodID, GetMethodID, (JNIEnv * env, jclass c, const char *n, const char *d),
            (env, c, n, d), NULL)
JNI_FAILING(jmethodID, GetStaticMethodID, (JNIEnv * env, jclass c, const char *n, const char *d),
            (env, c, n, d), NULL)
JNI_FAILING(jfieldID, GetFieldID, (JNIEnv * env, jclass c, const char *n, const char *d),
            (env, c, n, d), NULL)
JNI_FAILING(jfieldID, GetStaticFieldID, (JNIEnv * env, jclass c, const char *n, const char *d),
            (env, c, n, d), NULL)
JNI_FAILING(jint, PushLocalFrame, (JNIEnv * env, jint capacity), (env, capacity), JNI_ENOMEM)
JNI_FAILING(jstring, NewStringUTF, (JNIEnv * env, const char *text), (env, text), NULL)
JNI_FAILING(jobject, GetStaticObjectField, (JNIEnv * env, jclass c, jfieldID f), (env, c, f), NULL)

JNI_FAILING(const char *, GetStringUTFChars, (JNIEnv * env, jstring s, jboolean *copied),
            (env, s, copied), NULL)
JNI_FAILING(jobject, GetObjectArrayElement, (JNIEnv * env, jobjectArray a, jsize i), (env, a, i),
            NULL)

static void JNICALL jni_SetObjectArrayElement(JNIEnv *env, jobjectArray a, jsize i, jobject o)
{
    if (FAILS(SetObjectArrayElement))
        throw_it(env);
    else
        old->SetObjectArrayElement(env, a, i, o);
}

#define JNI_CALL_FAILING(type, name, parameters, target)                                           \
    static type JNICALL jni_##name parameters                                                      \
    {                                                                                              \
        if (FAILS(name)) {                                                                         \
            throw_it(env);                                                                         \
            return 0;                                                                              \
        }                                                                                          \
        va_list args;                                                                              \
        va_start(args, method);                                                                    \
        type result = old->name##V(env, target, method, args);                                     \
        va_end(args);                                                                              \
        return result;                                                                             \
    }

JNI_CALL_FAILING(jobject, CallStaticObjectMethod,
                 (JNIEnv * env, jclass class, jmethodID method, ...), class)
JNI_CALL_FAILING(jobject, CallObjectMethod, (JNIEnv * env, jobject o, jmethodID method, ...), o)
JNI_CALL_FAILING(jint, CallIntMethod, (JNIEnv * env, jobject o, jmethodID method, ...), o)
JNI_CALL_FAILING(jlong, CallLongMethod, (JNIEnv * env, jobject o, jmethodID method, ...), o)

static void JNICALL jni_CallStaticVoidMethod(JNIEnv *env, jclass class, jmethodID method, ...)
{
    if (FAILS(CallStaticVoidMethod)) {
        throw_it(env);
        return;
    }
    va_list args;
    va_start(args, method);
    old->CallStaticVoidMethodV(env, class, method, args);
    va_end(args);
}

static void replace_jni(jvmtiEnv *jvmti, JNIEnv *env)
{
    jclass local = (*env)->FindClass(env, "java/lang/OutOfMemoryError");
    out_of_memory = (*env)->NewGlobalRef(env, local);
    (*env)->DeleteLocalRef(env, local);
    struct JNINativeInterface_ *copy_of = NULL;
    if ((*jvmti)->GetJNIFunctionTable(jvmti, (jniNativeInterface **)&copy_of) != 0)
        return;
    old = copy_of;
    jni = *copy_of;
#define SET(name) jni.name = jni_##name
    SET(NewWeakGlobalRef);
    SET(NewGlobalRef);
    SET(NewLocalRef);
    SET(DefineClass);
    SET(FindClass);
    SET(GetMethodID);
    SET(GetStaticMethodID);
    SET(GetFieldID);
    SET(GetStaticFieldID);
    SET(PushLocalFrame);
    SET(NewStringUTF);
    SET(GetStaticObjectField);
    SET(CallStaticVoidMethod);
    SET(CallStaticObjectMethod);
    SET(CallObjectMethod);
    SET(CallIntMethod);
    SET(CallLongMethod);
    SET(GetStringUTFChars);
    SET(GetObjectArrayElement);
    SET(SetObjectArrayElement);
    (void)(*jvmti)->SetJNIFunctionTable(jvmti, &jni);
}

/* ---- JVMTI: the tables of the environments that ours asks for ---- */

static struct jvmtiInterface_1_ tooling;
static const struct jvmtiInterface_1_ *tools;

#define JVMTI_FAILING(name, parameters, arguments)                                                 \
    static jvmtiError JNICALL jvmti_##name parameters                                              \
    {                                                                                              \
        return FAILS(name) ? JVMTI_ERROR_OUT_OF_MEMORY : tools->name arguments;                    \
    }

JVMTI_FAILING(Allocate, (jvmtiEnv * e, jlong size, unsigned char **out), (e, size, out))
JVMTI_FAILING(AddCapabilities, (jvmtiEnv * e, const jvmtiCapabilities *c), (e, c))
JVMTI_FAILING(SetEventCallbacks, (jvmtiEnv * e, const jvmtiEventCallbacks *c, jint n), (e, c, n))
JVMTI_FAILING(GetSystemProperty, (jvmtiEnv * e, const char *name, char **out), (e, name, out))
JVMTI_FAILING(DisposeEnvironment, (jvmtiEnv * e), (e))
JVMTI_FAILING(GetClassSignature, (jvmtiEnv * e, jclass c, char **s, char **g), (e, c, s, g))
JVMTI_FAILING(GetClassLoader, (jvmtiEnv * e, jclass c, jobject *loader), (e, c, loader))
JVMTI_FAILING(IsModifiableClass, (jvmtiEnv * e, jclass c, jboolean *out), (e, c, out))
JVMTI_FAILING(RetransformClasses, (jvmtiEnv * e, jint n, const jclass *c), (e, n, c))
JVMTI_FAILING(GetClassFields, (jvmtiEnv * e, jclass c, jint *n, jfieldID **f), (e, c, n, f))
JVMTI_FAILING(GetFieldName, (jvmtiEnv * e, jclass c, jfieldID f, char **n, char **s, char **g),
              (e, c, f, n, s, g))
JVMTI_FAILING(GetImplementedInterfaces, (jvmtiEnv * e, jclass c, jint *n, jclass **out),
              (e, c, n, out))
JVMTI_FAILING(ForceGarbageCollection, (jvmtiEnv * e), (e))

static jvmtiError JNICALL jvmti_GetLoadedClasses(jvmtiEnv *e, jint *n, jclass **out)
{
    if (on_worker() && FAILS(death_apply))
        pthread_exit(NULL);
    return FAILS(GetLoadedClasses) ? JVMTI_ERROR_OUT_OF_MEMORY : tools->GetLoadedClasses(e, n, out);
}

static jvmtiError JNICALL jvmti_SetEventNotificationMode(jvmtiEnv *e, jvmtiEventMode mode,
                                                         jvmtiEvent event, jthread thread, ...)
{
    return FAILS(SetEventNotificationMode)
               ? JVMTI_ERROR_OUT_OF_MEMORY
               : tools->SetEventNotificationMode(e, mode, event, thread);
}

static void replace_jvmti(jvmtiEnv *env)
{
    if (tools == NULL) {
        tools = *env;
        tooling = *tools;
#define SET_TOOL(name) tooling.name = jvmti_##name
        SET_TOOL(Allocate);
        SET_TOOL(AddCapabilities);
        SET_TOOL(SetEventCallbacks);
        SET_TOOL(SetEventNotificationMode);
        SET_TOOL(GetSystemProperty);
        SET_TOOL(GetLoadedClasses);
        SET_TOOL(GetClassSignature);
        SET_TOOL(GetClassLoader);
        SET_TOOL(IsModifiableClass);
        SET_TOOL(RetransformClasses);
        SET_TOOL(GetClassFields);
        SET_TOOL(GetFieldName);
        SET_TOOL(GetImplementedInterfaces);
        SET_TOOL(ForceGarbageCollection);
        SET_TOOL(DisposeEnvironment);
    }
    *(const struct jvmtiInterface_1_ **)env = &tooling;
}

/* ---- the invocation interface ---- */

static struct JNIInvokeInterface_ invoking;
static const struct JNIInvokeInterface_ *invoke;

static jint JNICALL vm_GetEnv(JavaVM *vm, void **out, jint version)
{
    void *from = __builtin_return_address(0);
    if (should_fail(F_GetEnv, from))
        return JNI_EVERSION;
    jint result = invoke->GetEnv(vm, out, version);
    bool ours = (uintptr_t)from >= low && (uintptr_t)from < high;
    if (ours && result == JNI_OK && (version & 0x70000000) == 0x30000000) /* JVMTI */
        replace_jvmti(*out);
    return result;
}

static jint JNICALL vm_AttachCurrentThreadAsDaemon(JavaVM *vm, void **out, void *args)
{
    if (FAILS(AttachCurrentThreadAsDaemon))
        return JNI_ENOMEM;
    uintptr_t from = (uintptr_t)__builtin_return_address(0);
    if (from >= low && from < high) {
        worker = pthread_self();
        has_worker = true;
    }
    return invoke->AttachCurrentThreadAsDaemon(vm, out, args);
}

static jint JNICALL vm_DetachCurrentThread(JavaVM *vm)
{
    return FAILS(DetachCurrentThread) ? JNI_ERR : invoke->DetachCurrentThread(vm);
}

static void JNICALL on_vm_init(jvmtiEnv *jvmti, JNIEnv *env, jthread thread)
{
    (void)thread;
    replace_jni(jvmti, env);
}

JNIEXPORT jint JNICALL Agent_OnLoad(JavaVM *vm, char *options, void *reserved)
{
    jvmtiEnv *jvmti = NULL;
    jvmtiEventCallbacks callbacks = {.VMInit = on_vm_init};
    (void)options;
    (void)reserved;
    if ((*vm)->GetEnv(vm, (void **)&jvmti, JVMTI_VERSION_11) != JNI_OK ||
        (*jvmti)->SetEventCallbacks(jvmti, &callbacks, (jint)sizeof callbacks) != 0 ||
        (*jvmti)->SetEventNotificationMode(jvmti, JVMTI_ENABLE, JVMTI_EVENT_VM_INIT, NULL) != 0)
        return JNI_ERR;
    invoke = *vm;
    invoking = *invoke;
    invoking.GetEnv = vm_GetEnv;
    invoking.AttachCurrentThreadAsDaemon = vm_AttachCurrentThreadAsDaemon;
    invoking.DetachCurrentThread = vm_DetachCurrentThread;
    *(const struct JNIInvokeInterface_ **)vm = &invoking;
    return JNI_OK;
}
