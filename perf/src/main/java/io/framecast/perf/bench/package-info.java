/// `framecast bench`: its scenarios, which compare Framecast with rivals, and the commands of the other
/// benches.
///
/// A scenario is a question; [PlanOptions] makes [BenchCase]s of it, [BenchRun] has [Measurement] run them in
/// the rounds of the harness, [BenchRows] compares the rows, and [BenchTable] declares their fields, columns
/// and figures. `bench node` and `bench start` differ in options and table alone ([SystemsBench]). The command
/// line tool finds [BenchTool] by its service loader; `io.framecast.perf.kit` asks it for the benches that take a
/// device.
@NullMarked
package io.framecast.perf.bench;

import org.jspecify.annotations.NullMarked;
