/// Network namespaces as hosts, for runs of several processes on one machine: the demo's, and those of benches and
/// chaos. Every package of `samples` and `perf` may call this one; it calls none of them.
@NullMarked
package io.framecast.samples.network;

import org.jspecify.annotations.NullMarked;
