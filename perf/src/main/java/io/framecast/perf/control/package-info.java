/// `framecast bench control`: the control datagrams at a source, counted in the simulator.
/// `io.framecast.perf.bench` alone calls this package.
@NullMarked
package io.framecast.perf.control;

import org.jspecify.annotations.NullMarked;
