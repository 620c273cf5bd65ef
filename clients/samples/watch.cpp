/*
 * Watches a channel from C++17: what its frames are, how many come in a second, how old they are, how bright pictures of 8
 * bits are.
 *
 *     g++ -std=c++17 watch.cpp $(pkg-config --cflags --libs framecast) -o watch
 *     ./watch URI
 *
 * Exit status: 0 the stream ended, 2 an error, 3 the source or the leader is gone.
 */
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <framecast.h>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

class StreamError : public std::runtime_error {
public:
    explicit StreamError(const fc_error &error) : std::runtime_error(error.text), status(error.status) {}
    const fc_status status;
};

struct Release {
    void operator()(const fc_frame *frame) const { fc_frame_release(frame); }
    void operator()(fc_subscriber *subscriber) const { fc_close(subscriber); }
};

/* The frame keeps its place in the ring as long as this lives. */
using Frame = std::unique_ptr<const fc_frame, Release>;

class Stream {
public:
    explicit Stream(const std::string &uri) {
        fc_error error{};
        fc_subscriber *made = nullptr;
        if (fc_subscribe(uri.c_str(), nullptr, &made, &error) != FC_OK) {
            throw StreamError(error);
        }
        subscriber.reset(made);
    }

    /* None at the end of the stream. */
    Frame next() {
        for (;;) {
            fc_error error{};
            const fc_frame *frame = nullptr;
            const fc_status status = fc_next(subscriber.get(), -1, &frame, &error);
            if (status == FC_OK || status == FC_END_OF_STREAM) {
                return Frame(frame);
            }
            if (status != FC_INTERRUPTED && status != FC_EMPTY) {
                throw StreamError(error);
            }
        }
    }

private:
    std::unique_ptr<fc_subscriber, Release> subscriber;
};

std::string text_of(const fc_format *format) {
    if (format == nullptr) {
        return "not described";
    }
    std::string text(static_cast<std::size_t>(fc_format_text(format, nullptr, 0)) + 1, '\0');
    fc_format_text(format, text.data(), text.size());
    text.pop_back();
    return text;
}

/* Of the first plane, where its samples are bytes; −1 for other frames, and for those that are shorter than they say. */
double brightness(const fc_frame &frame) {
    const fc_format *format = fc_frame_format(&frame);
    if (format == nullptr || format->picture == nullptr || format->tensor == nullptr || format->tensor->bits != 8) {
        return -1;
    }
    const fc_picture &picture = *format->picture;
    const std::string pixels = picture.pixels;
    const std::int64_t channels = pixels == "rgb24" || pixels == "bgr24" ? 3 : 1;
    const bool known = channels == 3 || pixels == "gray" || pixels == "nv12" || pixels == "yuv420p";
    const fc_plane &plane = picture.plane[0];
    const std::int64_t row = channels * picture.width;
    if (!known || plane.stride < row) {
        return -1;
    }
    const std::int64_t length = static_cast<std::int64_t>(frame.bytes);
    const std::int64_t below = picture.height - 1;
    if (length < row || plane.offset > length - row || (below > 0 && plane.stride > (length - row - plane.offset) / below)) {
        return -1;
    }
    std::uint64_t sum = 0;
    for (std::int64_t y = 0; y < picture.height; y++) {
        const auto *from = static_cast<const std::uint8_t *>(frame.data) + plane.offset + y * plane.stride;
        sum = std::accumulate(from, from + row, sum);
    }
    return static_cast<double>(sum) / static_cast<double>(row * picture.height);
}

/* Since it was published, as far as the clocks are known. */
double age_ms(const fc_frame &frame) {
    using namespace std::chrono;
    const std::int64_t now_ns = duration_cast<nanoseconds>(system_clock::now().time_since_epoch()).count();
    return static_cast<double>(now_ns + frame.clock_offset_ns - frame.timestamp_ns) / 1e6;
}

/* What came within a second, from its first frame on. */
class Second {
public:
    void add(const fc_frame &frame) {
        if (ages.empty()) {
            begin = std::chrono::steady_clock::now();
        }
        ages.push_back(age_ms(frame));
        bytes += frame.bytes;
        lost += std::accumulate(std::begin(frame.lost), std::end(frame.lost), std::uint64_t{0});
        light = brightness(frame);
    }

    bool is_over() const { return std::chrono::steady_clock::now() - begin >= std::chrono::seconds(1); }

    void print() {
        if (ages.empty()) {
            return;
        }
        const auto middle = ages.begin() + static_cast<std::ptrdiff_t>(ages.size() / 2);
        std::nth_element(ages.begin(), middle, ages.end());
        std::printf("%zu frames, %.1f MB, %llu lost, age %.2f ms at the median, %.2f at most", ages.size(),
                    static_cast<double>(bytes) / 1e6, static_cast<unsigned long long>(lost), *middle,
                    *std::max_element(ages.begin(), ages.end()));
        if (light >= 0) {
            std::printf(", brightness %.1f", light);
        }
        std::printf("\n");
    }

private:
    std::chrono::steady_clock::time_point begin;
    std::vector<double> ages;
    std::uint64_t bytes = 0;
    std::uint64_t lost = 0;
    double light = -1;
};

void watch(const std::string &uri) {
    Stream stream(uri);
    Second second;
    std::uint64_t frames = 0;
    std::uint64_t last = UINT64_MAX;
    while (const Frame frame = stream.next()) {
        const fc_format *format = fc_frame_format(frame.get());
        const std::uint64_t id = format == nullptr ? 0 : format->id;
        if (id != last) {
            std::printf("frame %llu: %s\n", static_cast<unsigned long long>(frame->number), text_of(format).c_str());
            last = id;
        }
        second.add(*frame);
        frames++;
        if (second.is_over()) {
            second.print();
            second = Second();
        }
    }
    second.print();
    std::printf("end of stream after %llu frames\n", static_cast<unsigned long long>(frames));
}

} // namespace

int main(int count, char **words) {
    if (count != 2) {
        std::fprintf(stderr, "usage: watch URI\n");
        return 2;
    }
    try {
        watch(words[1]);
        return 0;
    } catch (const StreamError &error) {
        std::fprintf(stderr, "watch: %s\n", error.what());
        return error.status > 0 ? 3 : 2;
    }
}
