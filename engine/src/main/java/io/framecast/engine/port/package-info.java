/// Adapters of the transport SPI to the protocol's ports, one to one and a call for each batch: lanes, one-sided
/// endpoints, and the control lane with its memory. The node makes them for its sessions.
@NullMarked
package io.framecast.engine.port;

import org.jspecify.annotations.NullMarked;
