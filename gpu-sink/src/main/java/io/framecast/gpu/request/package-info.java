/// Requests from kernels: a queue in pinned memory through which a kernel asks the host to publish device
/// memory, the host-assisted variant of seed 003 §IV-C, which was the fastest there.
@NullMarked
package io.framecast.gpu.request;

import org.jspecify.annotations.NullMarked;
