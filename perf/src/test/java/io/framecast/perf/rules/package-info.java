@NullMarked
package io.framecast.perf.rules;

import org.jspecify.annotations.NullMarked;
