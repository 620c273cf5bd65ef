/// The `verbs` transport: lanes on UD queue pairs, over RoCE v2, with receive requests that land header and
/// payload where their rings are. It stands on the bindings in [io.framecast.rdma.verbs] and knows nothing of
/// GPUs but regions. The engine calls it through `api.spi`; the tool calls its survey.
@NullMarked
package io.framecast.rdma;

import org.jspecify.annotations.NullMarked;
