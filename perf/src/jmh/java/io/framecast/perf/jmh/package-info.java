/// The cost of the protocol per datagram and per frame, by JMH; docs/performance.md says how to run it.
@NullMarked
package io.framecast.perf.jmh;

import org.jspecify.annotations.NullMarked;
