/// The `udp` transport: multicast over the kernel's sockets, straight between the network and the rings. The
/// node finds it as a [io.framecast.api.provider.TransportProvider]; nothing else calls it.
@NullMarked
package io.framecast.engine.udp;

import org.jspecify.annotations.NullMarked;
