/// Protected streams (`auth=`): the handshake of receivers with a source, the keys that come of it and their
/// change, and
/// the sealing of control datagrams and of data. The sessions of source and subscription hold one protection each, and
/// pass every control datagram through it. SECURITY.md has the promises, docs/protocol.md the layouts.
@NullMarked
package io.framecast.reliability.secure;

import org.jspecify.annotations.NullMarked;
