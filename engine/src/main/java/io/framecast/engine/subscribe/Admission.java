package io.framecast.engine.subscribe;

import io.framecast.engine.auth.DatagramSeals;
import org.jspecify.annotations.Nullable;

/// By which a receiver takes part in a source's session.
///
/// @param receiverId not 0; random, in protected sessions its low half
/// @param opener opens datagrams of the data and repair lanes; null where they are not sealed. The session owns it
record Admission(long receiverId, @Nullable DatagramSeals opener) {}
