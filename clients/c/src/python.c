/* Capsules for Python. Their functions are found in the process that runs the interpreter, so that the library needs
 * none. */
#include "dlpack.h"
#include "framecast.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdlib.h>

typedef void *(*new_function)(void *pointer, const char *name, void (*destructor)(void *capsule));
typedef void *(*pointer_function)(void *capsule, const char *name);
typedef int (*valid_function)(void *capsule, const char *name);
typedef void (*increase_function)(void *object);

static const char TENSOR[] = "dltensor";
static const char VERSIONED[] = "dltensor_versioned";
static const char PLACE[] = "framecast.place";

static struct {
    new_function make;
    pointer_function pointer;
    valid_function is_valid;
    increase_function increase;
    void *none;
} python;

static void find(const char *name, void *to) {
    /* ISO C has no conversion from an object's pointer to that of a function; POSIX asks for it. */
    *(void **)to = dlsym(RTLD_DEFAULT, name);
}

static bool is_found(void) {
    return python.make != NULL && python.pointer != NULL && python.is_valid != NULL && python.increase != NULL
           && python.none != NULL;
}

static bool find_python(void) {
    if (!is_found()) {
        find("PyCapsule_New", &python.make);
        find("PyCapsule_GetPointer", &python.pointer);
        find("PyCapsule_IsValid", &python.is_valid);
        find("Py_IncRef", &python.increase);
        find("_Py_NoneStruct", &python.none);
    }
    return is_found();
}

/* A new reference. ctypes takes no NULL that comes without an exception. */
static void *none(void) {
    python.increase(python.none);
    return python.none;
}

/* A consumer that took the tensor has renamed the capsule, and deletes the tensor itself. */
static void destroy_tensor(void *capsule) {
    if (python.is_valid(capsule, TENSOR)) {
        DLManagedTensor *tensor = python.pointer(capsule, TENSOR);
        tensor->deleter(tensor);
    }
}

static void destroy_versioned(void *capsule) {
    if (python.is_valid(capsule, VERSIONED)) {
        DLManagedTensorVersioned *tensor = python.pointer(capsule, VERSIONED);
        tensor->deleter(tensor);
    }
}

/* Takes the tensor, NULL for none. */
static void *capsule_of(DLManagedTensor *tensor) {
    if (tensor == NULL) {
        return none();
    }
    void *capsule = python.make(tensor, TENSOR, destroy_tensor);
    if (capsule == NULL) {
        tensor->deleter(tensor);
    }
    return capsule;
}

static void *versioned_capsule_of(DLManagedTensorVersioned *tensor) {
    if (tensor == NULL) {
        return none();
    }
    void *capsule = python.make(tensor, VERSIONED, destroy_versioned);
    if (capsule == NULL) {
        tensor->deleter(tensor);
    }
    return capsule;
}

void *fc_python_export(const fc_frame *frame, int kind, void *stream) {
    if (!find_python()) {
        return NULL;
    }
    bool on_device = (kind & FC_EXPORT_DEVICE) != 0;
    if ((kind & FC_EXPORT_VERSIONED) != 0) {
        return versioned_capsule_of(on_device ? fc_frame_cuda_tensor_versioned(frame, stream)
                                              : fc_frame_tensor_versioned(frame));
    }
    return capsule_of(on_device ? fc_frame_cuda_tensor(frame, stream) : fc_frame_tensor(frame));
}

void *fc_python_tensor(const fc_frame *frame, int code, int bits, int lanes, int dimensions, const int64_t *shape) {
    return find_python() ? capsule_of(fc_frame_dlpack(frame, code, bits, lanes, dimensions, shape)) : NULL;
}

void fc_python_release_on(const fc_frame *frame, void *stream) {
    fc_frame_release_on(fc_frame_retain(frame), stream);
}

/* The handle is the first field: fc_next and others write it. */
struct place {
    void *handle;
    int kind;
};

void fc_python_give_back(void *given) {
    struct place *place = given;
    void *handle = __atomic_exchange_n(&place->handle, NULL, __ATOMIC_ACQ_REL);
    if (handle == NULL) {
        return;
    }
    switch (place->kind) {
    case FC_PLACE_FRAME: fc_frame_release(handle); break;
    case FC_PLACE_SUBSCRIBER: fc_close(handle); break;
    default: fc_publish_close(handle); break;
    }
}

static void destroy_place(void *capsule) {
    struct place *place = python.pointer(capsule, PLACE);
    fc_python_give_back(place);
    free(place);
}

void *fc_python_place(int kind) {
    if (!find_python()) {
        return NULL;
    }
    struct place *place = calloc(1, sizeof *place);
    if (place == NULL) {
        return none();
    }
    place->kind = kind;
    void *capsule = python.make(place, PLACE, destroy_place);
    if (capsule == NULL) {
        free(place);
    }
    return capsule;
}
