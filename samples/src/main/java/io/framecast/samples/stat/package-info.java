/// `framecast stat`: the counters of running nodes. Only the command line calls it.
@NullMarked
package io.framecast.samples.stat;

import org.jspecify.annotations.NullMarked;
