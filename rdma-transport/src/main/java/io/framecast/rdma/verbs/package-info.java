/// libibverbs from Java: RDMA devices, queue pairs and memory regions, through `java.lang.foreign` and
/// nothing else.
///
/// Works with rdma-core 44 and newer; older ones back to 1.0 have the same layouts, but were not tried.
///
/// Three layers:
///  - `VerbsLayouts`, `VerbsConstants`, `Downcalls`, `Verbs`: the C side, spelled as in verbs.h. A test
///    compares every offset, size and constant with a compiled C program.
///  - handles, one class per kind of C object ([io.framecast.rdma.verbs.Context],
///    [io.framecast.rdma.verbs.ProtectionDomain], [io.framecast.rdma.verbs.MemoryRegion],
///    [io.framecast.rdma.verbs.CompletionQueue], [io.framecast.rdma.verbs.QueuePair] …): made by their
///    owner, closed before it, each failure one line with function, errno, meaning and how to fix it.
///  - [io.framecast.rdma.verbs.ReceiveRequests], [io.framecast.rdma.verbs.SendRequests] and
///    [io.framecast.rdma.verbs.WorkCompletions]: requests built once in native memory, posted and polled
///    in batches, without allocation.
///
/// Only the transport in `io.framecast.rdma` calls this package, and its survey for `framecast doctor`.
///
/// How it maps to verbs.h: functions that are `static inline` there (posting, polling, arming) are called through the
/// function pointers in `struct ibv_context`, which belong to the device's provider; everything else by
/// symbol. Only the poll is a critical downcall: it never enters the kernel, while posting may (Soft-RoCE
/// does so by a system call).
///
/// Threading: handles may be made and closed by any thread, of one context by several at the same time; each is
/// closed by one thread, after all handles that were made from it. A queue pair is posted to by one thread per
/// direction, a completion queue polled by one; different ones may be used at the same time. Closing a handle that
/// another thread uses is the caller's mistake, and is not caught.
///
/// Ownership: a handle owns its C object and its native memory. Registered memory stays the
/// caller's: it must outlive its region, since a device keeps writing without asking the collector or an
/// arena. Close in this order: stop posting, fail the queue pair, drain completions, close the queue pair,
/// its regions, its memory.
///
/// Groups on RoCE: `ibv_attach_mcast` alone receives nothing, and says nothing. The network interface below
/// the device must be a member at IP level too; [io.framecast.rdma.verbs.GroupMembership] is.
@NullMarked
package io.framecast.rdma.verbs;

import org.jspecify.annotations.NullMarked;
