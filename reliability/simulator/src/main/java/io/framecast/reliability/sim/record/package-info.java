/// The record of a simulated run: counts, the journal, the frames that were published, the report.
/// `reliability.sim` fills them; `samples`, `perf` and tests read the report.
@NullMarked
package io.framecast.reliability.sim.record;

import org.jspecify.annotations.NullMarked;
