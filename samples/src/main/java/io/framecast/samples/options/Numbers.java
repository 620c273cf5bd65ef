package io.framecast.samples.options;

import java.util.List;

/// Numbers with a fraction, between commas, each once.
public record Numbers(List<Double> values) {}
