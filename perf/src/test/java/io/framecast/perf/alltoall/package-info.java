@NullMarked
package io.framecast.perf.alltoall;

import org.jspecify.annotations.NullMarked;
