package io.framecast.perf.streaming;

import io.framecast.perf.harness.LinkMeter;
import io.framecast.perf.harness.ProcessUse;

/// The report of a receiver.
///
/// @param placement how frames came into the device
/// @param checkedFrames frames of which every byte was compared
/// @param latencyUs median of the frames alone; negative where there was none
/// @param backgroundMBps copied in the background, each way; 0 where there was no background
/// @param compilingShare of the time that the process's compilers worked
/// @param linkFrames as in [SentReport]
/// @param taken frames that it was given, those that do not count too
record ReceivedReport(
        String device,
        String placement,
        long frames,
        long checkedFrames,
        double broadcastMBps,
        double latencyUs,
        double latencyP99Us,
        double backgroundMBps,
        double compilingShare,
        long linkFrames,
        LinkMeter.Carried link,
        long taken,
        ProcessUse use) {}
