/// The place of a receiver's payloads in its memory and their way there. Payloads go by sequence into the ring
/// itself or through staging memory. Or they go by arrival, with reassembly buffers for frames with loss. Each
/// assembly keeps the ledger of the frames that the user holds. A decorator of each receives frames into the
/// buffers that the user posts. Called by [io.framecast.reliability.receive]; memory is behind
/// [io.framecast.reliability.assembly.FrameMemory].
@NullMarked
package io.framecast.reliability.assembly;

import org.jspecify.annotations.NullMarked;
