/// `framecast doctor`: the state of this machine for RDMA and GPUs, and how to fix faults. Only the
/// command line calls it.
@NullMarked
package io.framecast.samples.doctor;

import org.jspecify.annotations.NullMarked;
