/// `framecast bench streaming`: broadcasts into devices while other copies use the link between host and
/// device. Framecast runs beside broadcasts over unicast, and beside the predictions of cost models.
///
/// [StreamingOptions] makes a [StreamingPlan]; [StreamingRun] has the processes of each [Contender]
/// ([StreamingRole]) carry streams by a [Scheme]; [ModelProbe] measures what [Prediction] needs;
/// [StreamingTable] declares fields, columns and figures. `io.framecast.perf.alltoall` and
/// `io.framecast.perf.modelbench` take its plans.
@NullMarked
package io.framecast.perf.streaming;

import org.jspecify.annotations.NullMarked;
