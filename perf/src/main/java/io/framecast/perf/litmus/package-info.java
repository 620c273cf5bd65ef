/// `framecast litmus`: tests of the visibility contract of frames in device memory. Kernels read a frame the
/// moment they may, programs write memory again the moment they may; the same with a wait left out must be
/// seen.
///
/// [LitmusCommand] makes a [LitmusPlan] of each [Litmus]: [ToDeviceLitmus] and [ToHostLitmus]. Only the
/// command line tool's service loader calls this package, by [LitmusTool].
@NullMarked
package io.framecast.perf.litmus;

import org.jspecify.annotations.NullMarked;
