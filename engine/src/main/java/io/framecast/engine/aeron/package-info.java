/// The `aeron` transport: works wherever Java does, on a media driver inside the process.
@NullMarked
package io.framecast.engine.aeron;

import org.jspecify.annotations.NullMarked;
