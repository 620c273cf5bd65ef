@NullMarked
package io.framecast.perf.streaming;

import org.jspecify.annotations.NullMarked;
