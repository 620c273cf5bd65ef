/// Waiting for sockets and for other threads at once.
@NullMarked
package io.framecast.engine.ready;

import org.jspecify.annotations.NullMarked;
