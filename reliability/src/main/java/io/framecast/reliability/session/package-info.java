/// The cycles of both ends of a session, without I/O: [io.framecast.reliability.session.SendSession] claims, sends,
/// retransmits and frees; [io.framecast.reliability.session.ReceiveSession] polls, validates, places, delivers and
/// grants credit. They run over the ports of `lane`, `assembly` and `onesided`. The engine and the simulator run them.
@NullMarked
package io.framecast.reliability.session;

import org.jspecify.annotations.NullMarked;
