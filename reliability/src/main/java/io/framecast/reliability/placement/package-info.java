@NullMarked
package io.framecast.reliability.placement;

import org.jspecify.annotations.NullMarked;
