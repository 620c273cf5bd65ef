package io.framecast.perf.modelbench;

import io.framecast.perf.table.Statistics;
import java.util.List;

/// One broadcast, as a model predicts it and as it was measured.
///
/// @param scheme as users know it
/// @param processes with the source
/// @param equation of Chu et al. 2019
/// @param predictedUs by the equation
/// @param roundsUs measured; empty where it was not
record ModelRow(
        String scheme, int frameBytes, int processes, String equation, double predictedUs, List<Double> roundsUs) {
    Statistics measured() {
        return Statistics.of(roundsUs);
    }

    /// |predicted − measured| / measured; NaN where nothing was measured.
    double error() {
        final double median = measured().median();
        return Math.abs(predictedUs - median) / median;
    }
}
