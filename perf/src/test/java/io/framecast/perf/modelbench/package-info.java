@NullMarked
package io.framecast.perf.modelbench;

import org.jspecify.annotations.NullMarked;
