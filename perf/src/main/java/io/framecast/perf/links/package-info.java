/// Links that carry chunks of frames from one process of a tree or ring to the next: TCP, or writes over a reliable
/// connection.
@NullMarked
package io.framecast.perf.links;

import org.jspecify.annotations.NullMarked;
