@NullMarked
package io.framecast.engine.metrics;

import org.jspecify.annotations.NullMarked;
