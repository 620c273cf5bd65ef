/// `framecast doctor`: what this machine has for RDMA and GPUs, and how to fix what is missing. Only the
/// command line calls it.
@NullMarked
package io.framecast.samples.doctor;

import org.jspecify.annotations.NullMarked;
