/// Workers that compute on frames where they lie, in device memory. [MotionWorker] detects motion: its kernel
/// exists as CUDA C (`src/main/cuda/motion.cu`, built to a PTX resource), as Java for the emulated device,
/// and as the plainest loop on the host, and all three give the same numbers. `ServiceLoader` finds the
/// workers for `subscribe --worker`.
@NullMarked
package io.framecast.samples.worker;

import org.jspecify.annotations.NullMarked;
