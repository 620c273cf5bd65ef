@NullMarked
package io.framecast.reliability.flow;

import org.jspecify.annotations.NullMarked;
