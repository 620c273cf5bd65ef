/// Broadcast into devices while other copies use the same link between host and device: Framecast beside
/// broadcasts over unicast, and what cost models predict of both.
@NullMarked
package io.framecast.perf.streaming;

import org.jspecify.annotations.NullMarked;
