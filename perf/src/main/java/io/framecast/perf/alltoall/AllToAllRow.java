package io.framecast.perf.alltoall;

import io.framecast.perf.models.CostModel;
import io.framecast.perf.table.Outcome;
import io.framecast.perf.table.RoundsRow;
import java.util.List;

/// One scheme among so many processes.
record AllToAllRow(String scheme, int processes, int frameBytes, List<Outcome<AllToAllRound>> rounds)
        implements RoundsRow<AllToAllRound> {
    @Override
    public boolean isFramecast() {
        return scheme.equals(AllToAllSpec.MULTICAST);
    }

    double singleUs() {
        return median(AllToAllRound::singleUs);
    }

    double severalUs() {
        return median(AllToAllRound::severalUs);
    }

    /// Eq. 11.
    double overlap() {
        return CostModel.overlap(processes, singleUs(), severalUs());
    }

    /// OP where links are the limit: a process's own frame does not come over its link, so n broadcasts take as
    /// long as n − 1.
    double overlapOfLinks() {
        return 1.0 / processes;
    }

    /// Eq. 9 with that.
    double predictedUs() {
        return CostModel.severalSources(overlapOfLinks(), processes, singleUs());
    }

    double error() {
        return Math.abs(predictedUs() - severalUs()) / severalUs();
    }

    /// Bytes sent of those that unicast to each would send.
    double ofUnicast() {
        return median(AllToAllRound::sentPerByte) / (processes - 1);
    }
}
