@NullMarked
package io.framecast.perf.links;

import org.jspecify.annotations.NullMarked;
