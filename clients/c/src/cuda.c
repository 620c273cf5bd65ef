#include "cuda.h"

#include "error.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>

#define LIBRARY "libcuda.so.1"

static pthread_once_t once = PTHREAD_ONCE_INIT;
static struct fci_cuda cuda;
/* Empty where the driver is there. */
static char failure[256];

static const char *name_of(int answer) {
    int (*error_name)(int answer, const char **name);
    void *library = dlopen(LIBRARY, RTLD_NOW | RTLD_NOLOAD);
    const char *name = NULL;
    if (library != NULL) {
        *(void **)&error_name = dlsym(library, "cuGetErrorName");
        if (error_name == NULL || error_name(answer, &name) != FCI_CUDA_SUCCESS) {
            name = NULL;
        }
        dlclose(library);
    }
    return name == NULL ? "error" : name;
}

static void find_driver(void) {
    /* Never closed: the driver has threads of its own. */
    void *library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) {
        snprintf(failure, sizeof failure, "no CUDA driver here: %s; install NVIDIA's, or leave the device out", dlerror());
        return;
    }
    const char *missing = NULL;
    /* ISO C has no conversion from an object's pointer to that of a function; POSIX asks for it. */
#define FIND(field, name, arguments)                                                                                   \
    *(void **)&cuda.field = dlsym(library, #name);                                                                     \
    missing = cuda.field == NULL ? #name : missing;
    FCI_CUDA_CALLS(FIND)
#undef FIND
    if (missing != NULL) {
        snprintf(failure, sizeof failure, "the CUDA driver has no %s; install one for CUDA 11.1 or newer", missing);
        return;
    }
    int answer = cuda.init(0);
    if (answer != FCI_CUDA_SUCCESS) {
        snprintf(failure, sizeof failure, "the CUDA driver does not start: cuInit gave %d (%s); does nvidia-smi see a GPU?"
                 " In the child of a fork it never does", answer, name_of(answer));
    }
}

const struct fci_cuda *fci_cuda(fc_error *error) {
    pthread_once(&once, find_driver);
    if (failure[0] != 0) {
        fci_fail(error, FC_E_DEVICE, "cuda: %s", failure);
        return NULL;
    }
    return &cuda;
}

fc_status fci_cuda_fail(fc_error *error, int ordinal, const char *call, int answer) {
    return fci_fail(error, FC_E_DEVICE, "cuda:%d: %s gave %d (%s)", ordinal, call, answer, name_of(answer));
}
