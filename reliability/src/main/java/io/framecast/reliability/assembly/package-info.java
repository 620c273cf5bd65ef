/// Where a receiver's payloads belong in its memory and how they get there: by sequence, in the ring itself
/// or through staging memory, or by arrival, with lost frames put together in reassembly buffers. Each
/// assembly keeps the ledger of the frames that the user holds. Called by [io.framecast.reliability.receive];
/// memory is behind [io.framecast.reliability.assembly.FrameMemory].
@NullMarked
package io.framecast.reliability.assembly;

import org.jspecify.annotations.NullMarked;
