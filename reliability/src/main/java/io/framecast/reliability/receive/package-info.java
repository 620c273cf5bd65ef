/// The receiver's protocol machine: handshake, gaps and their repair, acknowledgement, credit, frames in order, drop
/// policies; and a co-root's part in it. `reliability.session`, `reliability.assembly` and `reliability.onesided` call
/// it.
@NullMarked
package io.framecast.reliability.receive;

import org.jspecify.annotations.NullMarked;
