/// `framecast bench arrival`: a kernel that runs and takes frames from an arrival ring, against one launch per
/// frame. `io.framecast.perf.bench` alone calls this package.
@NullMarked
package io.framecast.perf.arrival;

import org.jspecify.annotations.NullMarked;
