/// All-to-all broadcast: every process publishes to all others and receives from each (Chu et al. 2019, §5 and 7.1.3).
/// It takes options and plan of `io.framecast.perf.streaming`, for one device and any number of sources.
@NullMarked
package io.framecast.perf.alltoall;

import org.jspecify.annotations.NullMarked;
