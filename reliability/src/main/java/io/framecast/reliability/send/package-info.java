/// The sender's protocol machine: members, credit, retransmission, eviction, co-roots and their repair groups.
/// `reliability.session` and `reliability.onesided` call it.
@NullMarked
package io.framecast.reliability.send;

import org.jspecify.annotations.NullMarked;
