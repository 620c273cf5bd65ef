@NullMarked
package io.framecast.perf;

import org.jspecify.annotations.NullMarked;
