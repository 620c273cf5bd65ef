/// One-sided operations of the protocol: credit that a receiver writes into its source's memory, datagrams that it
/// reads out of windows and replicas, and windows that a source writes into co-roots' replicas. The sessions and
/// the co-root call it; engine adapters and the simulator implement
/// [io.framecast.reliability.onesided.OneSidedPort] and [io.framecast.reliability.onesided.EndpointPort].
@NullMarked
package io.framecast.reliability.onesided;

import org.jspecify.annotations.NullMarked;
