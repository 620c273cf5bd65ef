@NullMarked
package io.framecast.reliability.wire;

import org.jspecify.annotations.NullMarked;
