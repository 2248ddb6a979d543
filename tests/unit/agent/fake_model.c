/* tests/unit/agent/fake_model.c - classes and objects of the fake JVM. */
#include <stdlib.h>
#include <string.h>

#include "tests/unit/agent/fake_inner.h"

struct fake_world fake;

struct block {
    struct block *next;
    _Alignas(16) char bytes[];
};
static struct block *blocks; /* by the test's thread alone */

void *fake_memory(size_t size)
{
    struct block *b = calloc(1, sizeof *b + size);
    if (b == NULL)
        abort();
    b->next = blocks;
    blocks = b;
    return b->bytes;
}

char *fake_text(const char *text)
{
    return text == NULL ? NULL : strcpy(fake_memory(strlen(text) + 1), text);
}

void fake_free_world(void);
void fake_free_world(void)
{
    while (blocks != NULL) {
        struct block *next = blocks->next;
        free(blocks);
        blocks = next;
    }
}

bool fake_is_lacking(const char *name)
{
    for (size_t i = 0; i < fake.n_lacks; i++)
        if (strcmp(fake.lacks[i], name) == 0)
            return true;
    return false;
}

void fake_lacks(const char *name)
{
    assert_true(fake.n_lacks < FAKE_MOST);
    fake.lacks[fake.n_lacks++] = name;
}

void fake_has_everything(void)
{
    fake.everything = true;
}

void fake_on_define(void (*defined)(struct fake_class *class))
{
    fake.defined = defined;
}

void fake_property(const char *name, const char *value)
{
    fake.properties[fake.n_properties].name = name;
    fake.properties[fake.n_properties++].value = value;
}

struct fake_object *fake_make(struct fake_class *class, size_t n)
{
    struct fake_object *o = fake_memory(sizeof *o);
    o->class = class;
    o->n = n;
    o->slots = fake_memory((n + 1) * sizeof *o->slots);
    o->next = fake.objects;
    fake.objects = o;
    return o;
}

struct fake_class *fake_find_class(const char *name)
{
    for (struct fake_class *c = fake.classes; c != NULL; c = c->next)
        if (strcmp(c->name, name) == 0)
            return c;
    return NULL;
}

static struct fake_class *object_class(void)
{
    struct fake_class *found = fake_find_class("java/lang/Object");
    return found != NULL ? found : fake_class("java/lang/Object", NULL);
}

struct fake_class *fake_class(const char *name, struct fake_class *super)
{
    struct fake_class *c = fake_memory(sizeof *c);
    c->name = fake_text(name);
    c->status =
        JVMTI_CLASS_STATUS_VERIFIED | JVMTI_CLASS_STATUS_PREPARED | JVMTI_CLASS_STATUS_INITIALIZED;
    c->super = super != NULL || strcmp(name, "java/lang/Object") == 0 ? super : object_class();
    c->n_slots = c->super != NULL ? c->super->n_slots : 0;
    c->next = fake.classes;
    fake.classes = c;
    c->mirror = fake_make(NULL, 0);
    c->mirror->is_class = c;
    return c;
}

struct fake_object *fake_mirror(struct fake_class *class)
{
    return class->mirror;
}

void fake_loaded_by(struct fake_class *class, struct fake_object *loader)
{
    class->loader = loader;
}

void fake_implements(struct fake_class *class, struct fake_class *interface)
{
    assert_true(class->n_interfaces < FAKE_MOST);
    class->interfaces[class->n_interfaces++] = interface;
}

void fake_status(struct fake_class *class, jint status)
{
    class->status = status;
}

bool fake_is_prepared(const struct fake_class *class)
{
    return (class->status & JVMTI_CLASS_STATUS_PREPARED) != 0;
}

void fake_unmodifiable(struct fake_class *class)
{
    class->unmodifiable = true;
}

void fake_not_retransformable(struct fake_class *class)
{
    class->not_retransformable = true;
}

void fake_constant_pool(struct fake_class *class, const void *bytes, size_t len)
{
    class->pool = bytes;
    class->pool_len = len;
}

static struct fake_field *add_field(struct fake_class *class, const char *name,
                                    const char *descriptor, jint modifiers)
{
    struct fake_field *f = fake_memory(sizeof *f), **last = &class->fields;
    f->owner = class;
    f->name = fake_text(name);
    f->descriptor = fake_text(descriptor);
    f->modifiers = modifiers;
    if ((modifiers & ACC_STATIC) == 0)
        f->slot = class->n_slots++;
    while (*last != NULL)
        last = &(*last)->next;
    *last = f;
    return f;
}

struct fake_field *fake_field(struct fake_class *class, const char *name, const char *descriptor)
{
    return add_field(class, name, descriptor, 0);
}

struct fake_field *fake_static(struct fake_class *class, const char *name, const char *descriptor)
{
    return add_field(class, name, descriptor, ACC_STATIC);
}

struct fake_method *fake_method(struct fake_class *class, const char *name, const char *descriptor,
                                jint modifiers)
{
    struct fake_method *m = fake_memory(sizeof *m), **last = &class->methods;
    m->owner = class;
    m->name = fake_text(name);
    m->descriptor = fake_text(descriptor);
    m->modifiers = modifiers;
    while (*last != NULL)
        last = &(*last)->next;
    *last = m;
    return m;
}

void fake_code(struct fake_method *method, const void *bytes, size_t len)
{
    method->code = bytes;
    method->len = len;
}

void fake_does(struct fake_method *method, fake_body body)
{
    method->body = body;
}

jmethodID fake_method_id(struct fake_method *method)
{
    return (jmethodID)(void *)method;
}

struct fake_field *fake_find_field(struct fake_class *class, const char *name,
                                   const char *descriptor, bool is_static, bool inherited)
{
    for (; class != NULL; class = inherited ? class->super : NULL)
        for (struct fake_field *f = class->fields; f != NULL; f = f->next)
            if (strcmp(f->name, name) == 0 &&
                (descriptor == NULL || strcmp(f->descriptor, descriptor) == 0) &&
                ((f->modifiers & ACC_STATIC) != 0) == is_static)
                return f;
    return NULL;
}

struct fake_method *fake_find_method(struct fake_class *class, const char *name,
                                     const char *descriptor, bool is_static)
{
    for (; class != NULL; class = class->super)
        for (struct fake_method *m = class->methods; m != NULL; m = m->next)
            if (strcmp(m->name, name) == 0 && strcmp(m->descriptor, descriptor) == 0 &&
                ((m->modifiers & ACC_STATIC) != 0) == is_static)
                return m;
    return NULL;
}

struct fake_object *fake_object(struct fake_class *class)
{
    return fake_make(class, class->n_slots);
}

struct fake_object *fake_array(const char *class_name, size_t n)
{
    struct fake_class *class = fake_find_class(class_name);
    struct fake_object *o = fake_make(class != NULL ? class : fake_class(class_name, NULL), n);
    o->is_array = true;
    return o;
}

struct fake_object *fake_string(const char *text)
{
    struct fake_class *class = fake_find_class("java/lang/String");
    struct fake_object *o =
        fake_make(class != NULL ? class : fake_class("java/lang/String", NULL), 0);
    o->text = fake_text(text);
    return o;
}

struct fake_object *fake_thread(const char *name, int64_t tid)
{
    struct fake_class *class = fake_find_class("java/lang/Thread");
    if (class == NULL) {
        class = fake_class("java/lang/Thread", NULL);
        fake_field(class, "tid", "J");
    }
    struct fake_object *o = fake_object(class);
    o->text = fake_text(name);
    fake_number(o, "tid", tid);
    assert_true(fake.n_threads < FAKE_MOST);
    fake.threads[fake.n_threads++] = o;
    return o;
}

static struct fake_field *must_find(struct fake_class *class, const char *name, bool is_static)
{
    struct fake_field *f = fake_find_field(class, name, NULL, is_static, true);
    if (f == NULL)
        fail_msg("the fake class %s has no field %s", class->name, name);
    return f;
}

void fake_number(struct fake_object *o, const char *field, int64_t value)
{
    atomic_store_explicit(&o->slots[must_find(o->class, field, false)->slot], (uint64_t)value,
                          memory_order_relaxed);
}

void fake_refer(struct fake_object *o, const char *field, struct fake_object *to)
{
    atomic_store_explicit(&o->slots[must_find(o->class, field, false)->slot],
                          (uint64_t)(uintptr_t)to, memory_order_relaxed);
}

void fake_static_number(struct fake_class *class, const char *field, int64_t value)
{
    atomic_store_explicit(&must_find(class, field, true)->value, (uint64_t)value,
                          memory_order_relaxed);
}

void fake_static_refer(struct fake_class *class, const char *field, struct fake_object *to)
{
    atomic_store_explicit(&must_find(class, field, true)->value, (uint64_t)(uintptr_t)to,
                          memory_order_relaxed);
}

void fake_element(struct fake_object *array, size_t i, struct fake_object *to)
{
    assert_true(i < array->n);
    atomic_store_explicit(&array->slots[i], (uint64_t)(uintptr_t)to, memory_order_relaxed);
}

struct fake_object *fake_element_of(struct fake_object *array, size_t i)
{
    assert_true(i < array->n);
    return (struct fake_object *)(uintptr_t)atomic_load_explicit(&array->slots[i],
                                                                 memory_order_relaxed);
}

void fake_collect(struct fake_object *o)
{
    atomic_store_explicit(&o->collected, true, memory_order_relaxed);
}
