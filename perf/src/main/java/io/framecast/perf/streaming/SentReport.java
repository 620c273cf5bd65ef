package io.framecast.perf.streaming;

/// The report of a source.
///
/// @param device that the source's frames came from
/// @param backgroundMBps copied in the background, each way; 0 where there was no background
/// @param compilingShare of the time that the process's compilers worked
record SentReport(String transport, String device, long frames, double backgroundMBps, double compilingShare) {}
