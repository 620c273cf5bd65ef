@NullMarked
package io.framecast.engine.aeron;

import org.jspecify.annotations.NullMarked;
