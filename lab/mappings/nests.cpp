// The clocks of array, loads and stores through every nest of a planned product.
//
// Pieces of A and B take the rows of rings in turn, as in celosia.sw.scheduling.pieces.  A load
// waits until the piece that it overwrites was read, until its place among the loads ahead is free,
// and while the array, which comes first, streams rows from its bank.  nests.py fills in the sizes.

#include <algorithm>
#include <cstdint>
#include <vector>

namespace {

// A bank that has a smaller share left over serves no load beside the array.
constexpr double kLeastRate = 0.02;
// The array may stand still for so long between two nests that read a bank without a break.
constexpr double kBreak = 1.0;

struct Span {
    int64_t first, rows;
};

}  // namespace

extern "C" {

// Extents are in elements or in tiles of the array, times in cycles.  Tables of bursts have the
// cycles of a row in memory by its tiles; two numbers each, the second if the last tile is in it.
struct Sizes {
    int64_t dim, depth, columns, least_work;
    const int64_t *rows, *tiles, *tail;
    int64_t row_blocks, column_blocks, tail_parts, outer_rows;
    int64_t a_tiles, a_first, a_keep, b_k_tiles, b_n_tiles, b_keep, transposed;
    const Span *a_spans, *b_spans;
    int64_t a_span_count, b_span_count, bank_rows, banks;
    const double *a_burst, *b_burst, *store_burst, *bias_burst;
    int64_t bias_bytes, bias_fits, ahead, places, one_port;
    double start, latency, pipeline;
};

struct Clocks {
    double cycles, array_end;
    int64_t read_bytes;
};

}  // extern "C"

namespace {

// A piece in a ring's rows, and when all of it has come and it is read for the last time.
struct Piece {
    int64_t first, end, key, size, visit;
    double whole = 0, read = 0;
    Piece *after = nullptr;
};

class Ring {
  public:
    Ring(const Span *spans, int64_t count, int64_t keys) : where_(keys, nullptr) {
        for (int64_t index = 0; index < count; ++index)
            spans_.push_back({spans[index], spans[index].first, nullptr, nullptr});
    }

    ~Ring() {
        for (Piece *piece : made_) delete piece;
    }

    Ring(const Ring &) = delete;
    Ring &operator=(const Ring &) = delete;

    // The piece of this key if it is there, as large, and of this visit, where that counts.
    Piece *find(int64_t key, int64_t size, bool keep, int64_t visit) const {
        Piece *piece = where_[key];
        if (!piece || piece->size != size) return nullptr;
        return keep || piece->visit == visit ? piece : nullptr;
    }

    // A new piece; `read` becomes the time when its rows were read for the last time.
    Piece *take(int64_t key, int64_t rows, int64_t size, int64_t visit, double &read) {
        Place &place = spans_[turn_];
        turn_ = (turn_ + 1) % spans_.size();
        int64_t row = place.next;
        bool wrapped = !place.newest || row + rows > place.span.first + place.span.rows;
        if (wrapped) row = place.span.first;
        Piece *&link = wrapped ? place.lowest : place.newest->after;
        Piece *other = link;
        while (other && other->first < row + rows) {
            read = std::max(read, other->read);
            if (where_[other->key] == other) where_[other->key] = nullptr;
            Piece *next = other->after;
            free_.push_back(other);
            other = next;
        }
        Piece *piece = fresh();
        *piece = {row, row + rows, key, size, visit, 0, 0, other};
        link = place.newest = where_[key] = piece;
        place.next = row + rows;
        return piece;
    }

  private:
    struct Place {
        Span span;
        int64_t next;
        Piece *lowest, *newest;
    };

    Piece *fresh() {
        if (free_.empty()) {
            made_.push_back(new Piece);
            return made_.back();
        }
        Piece *piece = free_.back();
        free_.pop_back();
        return piece;
    }

    std::vector<Place> spans_;
    std::vector<Piece *> where_, free_, made_;
    std::size_t turn_ = 0;
};

struct Busy {
    double begin = 0, end = 0, share = 0;
};

struct Range {
    int64_t begin, end;
};

class Product {
  public:
    explicit Product(const Sizes &sizes)
        : s_(sizes),
          k_tiles_(tiles(sizes.depth)),
          n_tiles_(tiles(sizes.columns)),
          a_(sizes.a_spans, sizes.a_span_count, sizes.row_blocks * k_tiles_),
          b_(sizes.b_spans, sizes.b_span_count, k_tiles_ * n_tiles_),
          busy_(sizes.banks),
          drained_(sizes.places, 0.0),
          begun_(sizes.ahead, 0.0),
          array_(sizes.start),
          loaded_(sizes.start) {}

    Clocks follow() {
        const int64_t high = s_.row_blocks, wide = s_.column_blocks, blocks = high * wide;
        std::vector<int64_t> first(wide + 1, 0);
        for (int64_t col = 0; col < wide; ++col) first[col + 1] = first[col] + s_.tiles[col];
        for (int64_t visit = 0; visit < blocks; ++visit) {
            const int64_t row = s_.outer_rows ? visit / wide : visit % high;
            const int64_t col = s_.outer_rows ? visit % wide : visit / high;
            const Range columns{first[col], first[col + 1]};
            if (visit + 1 < blocks) {
                block(visit, row, columns, columns, visit);
                continue;
            }
            int64_t low = columns.begin;
            for (int64_t part = 0; part < s_.tail_parts; low += s_.tail[part++])
                block(visit, row, columns, {low, low + s_.tail[part]}, visit + part);
        }
        return {stored_ + s_.latency, array_, bytes_};
    }

  private:
    int64_t tiles(int64_t extent) const { return (extent + s_.dim - 1) / s_.dim; }

    int64_t elements(Range range, int64_t extent) const {
        return std::min(range.end * s_.dim, extent) - range.begin * s_.dim;
    }

    double work(int64_t rows) const { return double(std::max(rows, s_.least_work)); }

    // A block of sums, or the part of it that is told; `turn` is its number among all of them.
    void block(int64_t visit, int64_t row, Range columns, Range part, int64_t turn) {
        const int64_t m = s_.rows[row], width = part.end - part.begin;
        array_ = std::max(array_, drained_[turn % s_.places]);
        if (s_.one_port && turn > 0)
            array_ = std::max(array_, drained_[(turn - 1) % s_.places] - work(m) * width);
        const double begin = array_;
        if (row == 0 || !s_.bias_fits) {
            loaded_ += s_.bias_burst[width];
            bytes_ += s_.bias_bytes * width;
        }
        const bool small = visit == 0 || (s_.a_keep && row == 0);
        for (Range k{0, small ? s_.a_first : s_.a_tiles}; k.begin < k_tiles_;
             k = {k.end, k.end + s_.a_tiles}) {
            k.end = std::min(k.end, k_tiles_);
            for (int64_t b_k = k.begin; b_k < k.end; b_k += s_.b_k_tiles)
                for (int64_t b_n = columns.begin; b_n < columns.end; b_n += s_.b_n_tiles) {
                    const Range deep{b_k, std::min(b_k + s_.b_k_tiles, k.end)};
                    const Range wide{b_n, std::min(b_n + s_.b_n_tiles, columns.end)};
                    const int64_t across =
                        std::min(wide.end, part.end) - std::max(wide.begin, part.begin);
                    if (across > 0) nest(visit, row, k, deep, wide, across);
                }
        }
        const double finished = k_tiles_ > 1 ? array_ : begin;
        const double leaves = std::max(finished + s_.pipeline, stored_);
        const double leaving = m * s_.store_burst[2 * width + (part.end == n_tiles_)];
        stored_ = std::max(leaves + leaving, array_ + s_.pipeline);
        drained_[turn % s_.places] = stored_;
    }

    // The products of a piece of A with a piece of B, or with some column tiles of it.
    void nest(int64_t visit, int64_t row, Range k, Range deep, Range wide, int64_t across) {
        const int64_t before = loads_, count = deep.end - deep.begin;
        Piece *a = a_piece(visit, row, k), *b = b_piece(visit, deep, wide);
        const double tile = work(s_.rows[row]);
        // A piece comes by one operation, and a product waits for all of one that it reads from.
        const double begin = std::max({array_, a->whole, b->whole});
        array_ = begin + tile * count * across;
        for (int64_t load = before; load < loads_; ++load) begun_[load % s_.ahead] = begin;
        stream(a, begin, s_.rows[row] / tile);
        stream(b, begin, std::min(1.0, s_.dim / tile));
    }

    Piece *a_piece(int64_t visit, int64_t row, Range k) {
        const int64_t key = row * k_tiles_ + k.begin, count = k.end - k.begin, m = s_.rows[row];
        if (Piece *piece = a_.find(key, count, s_.a_keep, visit)) return piece;
        double read = 0;
        Piece *piece = a_.take(key, count * m, count, visit, read);
        load(piece, read, m * s_.a_burst[2 * count + (k.end == k_tiles_)]);
        bytes_ += m * elements(k, s_.depth);
        return piece;
    }

    Piece *b_piece(int64_t visit, Range k, Range n) {
        const int64_t key = k.begin * n_tiles_ + n.begin;
        const int64_t deep = k.end - k.begin, wide = n.end - n.begin;
        if (Piece *piece = b_.find(key, deep, s_.b_keep, visit)) return piece;
        const int64_t depth = elements(k, s_.depth), columns = elements(n, s_.columns);
        const int64_t rows = s_.transposed ? deep * columns : wide * depth;
        const double cycles = s_.transposed
                                  ? columns * s_.b_burst[2 * deep + (k.end == k_tiles_)]
                                  : depth * s_.b_burst[2 * wide + (n.end == n_tiles_)];
        double read = 0;
        Piece *piece = b_.take(key, rows, deep, visit, read);
        load(piece, read, cycles);
        bytes_ += depth * columns;
        return piece;
    }

    void load(Piece *piece, double read, double cycles) {
        const double gate = begun_[loads_ % s_.ahead];
        double wanted = std::max(loaded_, read);
        if (gate > 0) wanted = std::max(wanted, gate + s_.latency);
        const Busy &bank = busy_[piece->first / s_.bank_rows];
        double now = wanted, left = cycles;
        if (wanted < bank.end && wanted + cycles > bank.begin) {
            if (wanted < bank.begin) {
                left -= bank.begin - wanted;
                now = bank.begin;
            }
            const double rate = 1 - bank.share;
            if (rate > kLeastRate && rate * (bank.end - now) >= left) {
                now += left / rate;
                left = 0;
            } else {
                if (rate > kLeastRate) left -= rate * (bank.end - now);
                else if (wanted >= bank.begin) wanted = bank.end;
                now = bank.end;
            }
        }
        piece->whole = loaded_ = now + left;
        ++loads_;
    }

    // The array reads a piece from `begin` on until it is done.
    void stream(Piece *piece, double begin, double share) {
        piece->read = std::max(piece->read, array_);
        Busy &bank = busy_[piece->first / s_.bank_rows];
        if (begin > bank.end + kBreak || share != bank.share) bank.begin = begin;
        bank.end = array_;
        bank.share = share;
    }

    const Sizes &s_;
    const int64_t k_tiles_, n_tiles_;
    Ring a_, b_;
    std::vector<Busy> busy_;
    std::vector<double> drained_, begun_;
    double array_, loaded_, stored_ = 0;
    int64_t bytes_ = 0, loads_ = 0;
};

}  // namespace

extern "C" void follow_nests(const Sizes *sizes, Clocks *found) { *found = Product(*sizes).follow(); }
