/// Reads and writes of memory that are fast from the first call on.
@NullMarked
package io.framecast.reliability.memory;

import org.jspecify.annotations.NullMarked;
