@NullMarked
package io.framecast.reliability.sim;

import org.jspecify.annotations.NullMarked;
