package io.framecast.perf.alltoall;

import io.framecast.perf.models.CostModel;
import io.framecast.perf.table.Statistics;
import java.util.List;

/// One scheme among so many processes.
///
/// @param singleUs of one broadcast, at the process that had it last; by round
/// @param severalUs of one broadcast of each process at once; by round
/// @param goodputMBps at each process, back to back; by measurement
/// @param linkShare of its link that a process received; NaN where links have no limit
/// @param sentPerByte bytes that a process sent for each byte of its own frames
/// @param busyShare of the machine's processors
/// @param failures reasons of measurements that failed
record AllToAllRow(
        String scheme,
        int processes,
        int frameBytes,
        List<Double> singleUs,
        List<Double> severalUs,
        List<Double> goodputMBps,
        List<Double> linkShare,
        List<Double> sentPerByte,
        List<Double> busyShare,
        List<String> failures) {
    static double median(final List<Double> values) {
        return Statistics.of(values).median();
    }

    /// Eq. 11.
    double overlap() {
        return CostModel.overlap(processes, median(singleUs), median(severalUs));
    }

    /// OP where links are the limit: a process's own frame does not come over its link, so n broadcasts take as long
    /// as n − 1.
    double overlapOfLinks() {
        return 1.0 / processes;
    }

    /// Eq. 9 with that.
    double predictedUs() {
        return CostModel.severalSources(overlapOfLinks(), processes, median(singleUs));
    }

    double error() {
        return Math.abs(predictedUs() - median(severalUs)) / median(severalUs);
    }

    /// Bytes sent of those that unicast to each would send.
    double ofUnicast() {
        return median(sentPerByte) / (processes - 1);
    }
}
