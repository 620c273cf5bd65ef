/// The pipeline behind every bench: rows with named columns become a table for people, JSON, CSV, plots and
/// a page.
///
/// ```
///  rows ─> Table ── fields ──> JSON, CSV
///                └─ columns ─> text, page
///  rows ─> Figure ───────────> Charts (XChart): PNG, SVG, page
///                              Output: stdout, `--json`, `--out`
/// ```
///
/// A bench declares a [Table] of its rows once, and its [Figure]s; a [RoundsRow] takes its figures from
/// rounds. Every package of `perf` may call this one; it calls none of them.
@NullMarked
package io.framecast.perf.table;

import org.jspecify.annotations.NullMarked;
