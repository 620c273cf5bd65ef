/// Device-side arrival: frames are announced to a kernel that is already running, through a ring of entries in
/// pinned host memory that the device reads. [io.framecast.gpu.arrival.ArrivalRing] is the host's end,
/// [io.framecast.gpu.arrival.EmulatedArrivals] the emulated device's, and `framecast.cuh`, a resource beside these
/// classes, the one for CUDA; [io.framecast.gpu.arrival.ArrivalLayout] is the layout of all three. The devices hand
/// it out as a capability; tests and benches call the emulated end.
@NullMarked
package io.framecast.gpu.arrival;

import org.jspecify.annotations.NullMarked;
