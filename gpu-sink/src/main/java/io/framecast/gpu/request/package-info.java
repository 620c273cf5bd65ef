/// Requests from kernels: a queue in pinned memory through which a kernel asks the host to publish device
/// memory, the host-assisted variant of Oden et al. (verbs on the GPU), §IV-C, the fastest of its variants.
/// The devices hand it out as a capability; tests call the emulated end.
@NullMarked
package io.framecast.gpu.request;

import org.jspecify.annotations.NullMarked;
