@NullMarked
package io.framecast.reliability.window;

import org.jspecify.annotations.NullMarked;
