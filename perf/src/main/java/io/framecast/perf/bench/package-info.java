/// `framecast bench`: plans a run, starts its processes, gathers what they measured.
@NullMarked
package io.framecast.perf.bench;

import org.jspecify.annotations.NullMarked;
