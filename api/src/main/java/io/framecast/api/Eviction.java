package io.framecast.api;

import java.time.Instant;

/// A subscriber that its publisher has evicted. Immutable.
///
/// @param address the subscriber's control address, in the transport's form
/// @param reason why, as text that goes on from "was evicted"
/// @param time when, to about 0.1 s
public record Eviction(String address, String reason, Instant time) {}
