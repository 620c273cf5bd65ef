package io.framecast.perf.alltoall;

import io.framecast.perf.harness.LinkMeter;
import java.util.List;

/// The report of a process.
///
/// @param roundsUs how long each round took, at the coordinator; else empty
/// @param seconds of the frames back to back, at the coordinator; else 0
/// @param link what its link carried meanwhile
record AllToAllReport(List<Double> roundsUs, double seconds, LinkMeter.Carried link) {}
