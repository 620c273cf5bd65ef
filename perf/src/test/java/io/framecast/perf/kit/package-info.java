@NullMarked
package io.framecast.perf.kit;

import org.jspecify.annotations.NullMarked;
