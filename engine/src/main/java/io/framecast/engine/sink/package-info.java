@NullMarked
package io.framecast.engine.sink;

import org.jspecify.annotations.NullMarked;
