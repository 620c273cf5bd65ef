@NullMarked
package io.framecast.perf.chaos;

import org.jspecify.annotations.NullMarked;
