/// `framecast chaos`: a publisher and its subscribers as real processes on a lossy network of their own. The
/// run kills, stops and cuts them off and sends garbage; it states the outcome of each fault before and checks
/// it after.
///
/// [ChaosCommand] makes a [ChaosPlan]; [ChaosRun] starts a [Cluster] of [ChaosProcess]es ([ChaosRole]) on a
/// [ChaosNetwork]; [FaultDraw] draws faults from a seed, [FaultRun] does each and checks it; [ChaosReport]
/// says what came of it. Only the command line tool's service loader calls this package, by [ChaosTool].
@NullMarked
package io.framecast.perf.chaos;

import org.jspecify.annotations.NullMarked;
