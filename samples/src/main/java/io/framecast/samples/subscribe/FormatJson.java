package io.framecast.samples.subscribe;

import io.framecast.api.format.FrameFormat;
import io.framecast.api.format.Picture;
import io.framecast.api.format.Plane;
import io.framecast.api.format.Samples;
import io.framecast.api.format.Tensor;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/// A format as `subscribe --json` reports it.
final class FormatJson {
    private FormatJson() {}

    static Map<String, Object> of(final FrameFormat format) {
        final Map<String, Object> json = new LinkedHashMap<>();
        json.put("text", format.toString());
        format.tensor().ifPresent(tensor -> json.put("tensor", tensor(tensor)));
        format.picture().ifPresent(picture -> json.put("picture", picture(picture)));
        format.samples().ifPresent(samples -> json.put("samples", samples(samples)));
        format.rate().ifPresent(rate -> json.put("rate", List.of(rate.numerator(), rate.denominator())));
        if (!format.keys().isEmpty()) {
            json.put("keys", format.keys());
        }
        return json;
    }

    private static Map<String, Object> tensor(final Tensor tensor) {
        final Map<String, Object> json = new LinkedHashMap<>();
        json.put("type", tensor.type().toString());
        json.put("shape", tensor.shape());
        if (!tensor.strides().isEmpty()) {
            json.put("strides", tensor.strides());
        }
        return json;
    }

    private static Map<String, Object> picture(final Picture picture) {
        final Map<String, Object> json = new LinkedHashMap<>();
        json.put("pixels", picture.pixels().ffmpegName());
        json.put("width", picture.width());
        json.put("height", picture.height());
        json.put("planes", picture.planes().stream().map(FormatJson::plane).toList());
        json.put("range", picture.range().label());
        return json;
    }

    private static List<Long> plane(final Plane plane) {
        return List.of(plane.offset(), plane.stride());
    }

    private static Map<String, Object> samples(final Samples samples) {
        final Map<String, Object> json = new LinkedHashMap<>();
        json.put("rate", samples.rate());
        json.put("channels", samples.channels());
        return json;
    }
}
