@NullMarked
package io.framecast.engine.memory;

import org.jspecify.annotations.NullMarked;
