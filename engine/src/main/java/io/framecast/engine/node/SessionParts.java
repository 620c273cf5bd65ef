package io.framecast.engine.node;

import io.framecast.api.spi.Lane;
import io.framecast.engine.sink.PayloadSink;
import io.framecast.reliability.ReceiverMachine;
import org.jspecify.annotations.Nullable;

/// What a receiver's session is put together from, by the conductor.
///
/// @param machine the protocol
/// @param sink where payloads land
/// @param data the lane over the sink's data ring
/// @param repair the lane over its repair ring
/// @param reaches what it does to others' memory
/// @param serving what it does as a co-root; null where it does not serve
/// @param spareSlots slots of its ring that are never granted: what comes without credit lands there
record SessionParts(
        ReceiverMachine machine,
        PayloadSink sink,
        Lane data,
        Lane repair,
        Reaches reaches,
        @Nullable CoRootService serving,
        int spareSlots) {}
