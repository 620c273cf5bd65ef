/// The source's cycle: [io.framecast.reliability.send.SendSession] claims, sends, retransmits and frees over the
/// ports of `lane` and `onesided`. The engine and the simulator run it.
@NullMarked
package io.framecast.reliability.send;

import org.jspecify.annotations.NullMarked;
