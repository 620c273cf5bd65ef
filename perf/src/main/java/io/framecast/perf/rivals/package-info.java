/// Ways of carrying frames between processes of this machine: Framecast by its public interface, and its
/// rivals: the raw loop of the kernel's calls (the floor), stock Aeron, and TCP.
///
/// A [MeasuredSystem] publishes and takes the stream of a [StreamSpec] and reports what it measured. The
/// packages of the benches call this one; it calls the harness alone.
@NullMarked
package io.framecast.perf.rivals;

import org.jspecify.annotations.NullMarked;
