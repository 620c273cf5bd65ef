@NullMarked
package io.framecast.engine.libc;

import org.jspecify.annotations.NullMarked;
