/// The parts that the commands of the tool share: options, the console, the report, the exit status; and the
/// interfaces by which other modules add commands ([io.framecast.samples.ToolCommand]) and workers
/// ([io.framecast.samples.FrameWorkerProvider]). Any package of programs may call it.
@NullMarked
package io.framecast.samples;

import org.jspecify.annotations.NullMarked;
