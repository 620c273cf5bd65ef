package io.framecast.perf.streaming;

import io.framecast.perf.harness.LinkMeter;
import io.framecast.perf.harness.ProcessUse;

/// The report of a source.
///
/// @param device that the source's frames came from
/// @param backgroundMBps copied in the background, each way; 0 where there was no background
/// @param compilingShare of the time that the process's compilers worked
/// @param linkFrames frames that went back to back, and the last one, which its link carried
/// @param link what else it did meanwhile
/// @param controlPerDatagram control datagrams that the source took and sent for each of data, joins included;
/// negative for schemes that have none
record SentReport(
        String transport,
        String device,
        long frames,
        double backgroundMBps,
        double compilingShare,
        long linkFrames,
        LinkMeter.Carried link,
        ProcessUse use,
        double controlPerDatagram) {
    static final double UNKNOWN = -1;
}
