/// A GPU in software: memory behind opaque addresses, copies by a thread of its own in stream order, a
/// modelled PCIe link. It behaves as `cuda` does wherever a program could notice, and is stricter where a GPU
/// merely corrupts memory. `ServiceLoader` finds `EmulatedProvider`; tests and benches configure it; the
/// engine calls the rest through the SPI.
@NullMarked
package io.framecast.gpu.emulated;

import org.jspecify.annotations.NullMarked;
