/// Whole streams from the offer to the poll: lengths, order, loss, ends, and what each datagram costs.
@NullMarked
package io.framecast.engine.stream;

import org.jspecify.annotations.NullMarked;
