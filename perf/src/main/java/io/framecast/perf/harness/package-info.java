/// The harness of every bench: child processes with one line protocol, network namespaces, warm-up and
/// interleaved rounds, and the accounting of CPU time and compilation.
///
/// A bench declares its options, its cases and its columns; the harness runs the cases:
///
/// ```
/// options ─> cases ─> Rounds ── warm up, then round by round, contenders by turns ─> results ─>
/// io.framecast.perf.table
///                        │
///                      Pools ── Pool: a source and its receivers, alive through all rounds
///                        │
///    Child  ── orders: "round SPEC", "gone", … ──>  ChildMain, a ChildRole in a JVM of its own
///           <── lines: "@report JSON", "@failure text", "@difference text", … ──  ParentLink
/// ```
///
/// [Child] and [ParentLink] are the two ends of the line protocol; [Records] writes specifications and reports
/// as JSON. [Network] is the loopback or a network of namespaces. [LinuxSocket] and [Connections] serve benches
/// that carry bytes without Framecast. Every package of `perf` may call this one; it calls
/// `io.framecast.perf.table` alone.
@NullMarked
package io.framecast.perf.harness;

import org.jspecify.annotations.NullMarked;
