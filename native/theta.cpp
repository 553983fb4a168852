// What Python calls of theta: rows of attention in, brackets out, each row for itself and from the cheapest
// method to the dearest. sandbox/mathematics/theta.py says the same in NumPy, to the bit.
#include <cstdlib>
#include <memory>

#include "theta_search.h"
#include "theta_splits.h"

namespace {

using namespace theta;

constexpr int64_t MOST_SEARCHED_KEYS = 24, PLACED_HEADS = 4, LONG_ROW_KEYS[] = {16, 20, 24};

struct Freed {
    void operator()(void* memory) const { std::free(memory); }
};

template <class Number>
std::unique_ptr<Number, Freed> room_for(int64_t n) {
    return std::unique_ptr<Number, Freed>(static_cast<Number*>(std::malloc(sizeof(Number) * size_t(n))));
}

// Memory that all rows of a call share.
struct Room {
    std::unique_ptr<double, Freed> sorted;
    std::unique_ptr<int64_t, Freed> units, spare, sums;

    Room(int64_t n_keys, int64_t n_searched)
        : sorted(room_for<double>(n_keys + 1)),
          units(room_for<int64_t>(n_keys + 1)),
          spare(room_for<int64_t>(n_keys + 1)),
          sums(room_for<int64_t>(search_memory(std::max<int64_t>(n_searched, 1)))) {}

    bool short_of() const { return !sorted || !units || !spare || !sums; }
};

// The best split found of a row and the bound proven, tightened step by step.
struct Search {
    const Row& row;
    const Room& room;
    double gap;
    int64_t attained, bound;

    Search(const Row& row, const Room& room, double gap)
        : row(row), room(room), gap(gap), attained(row.total), bound(row.total % 2) {}

    bool exact() const { return attained == bound; }
    bool open() const { return !exact() && at_most(bound, row) - at_least(attained, row) > gap; }
    void split(int64_t found) { attained = std::min(attained, found); }
    void take(Bracket found) {
        split(found.attained);
        bound = std::max(bound, found.bound);
    }

    int64_t searched(const int64_t* keys, int64_t n) { return smallest_difference(keys, int(n), room.sums.get()); }

    void settle(int64_t exact_to) {
        take(counting_bracket(row, 1, room.spare.get()));
        split(longest_first(row));
        split(sorted_prefix(row));
        const bool few = row.n <= exact_to, is_short = row.n <= MOST_SEARCHED_KEYS;
        if (!few && open()) {
            split(*difference_largest(copied(), row.n, 1));
            split(fill_below_half(row));
        }
        if ((few && !exact()) || (is_short && open())) {
            const int64_t optimum = searched(row.units, row.n);
            take({optimum, optimum});
        }
        if (!is_short && open()) bound_long();
    }

    void bound_long() {
        take(counting_bracket(row, PLACED_HEADS, room.spare.get()));
        take({attained, granularity_bound(row)});
        for (const int64_t n : LONG_ROW_KEYS) {
            if (!open()) return;
            int64_t tail = 0, some[MOST_SEARCHED_KEYS];
            for (int64_t k = n; k < row.n; k++) tail += row.units[k];
            const int64_t heads = searched(row.units, n) - tail;  // all others on the lighter side
            take({size_of(heads), std::max<int64_t>(heads, 0)});
            split(searched(difference_largest(copied(), row.n, n), n));
            place_all_but_some(row, n, some);
            split(searched(some, n));
        }
    }

    int64_t* copied() { return static_cast<int64_t*>(std::memcpy(room.spare.get(), row.units, sizeof(int64_t) * size_t(row.n))); }
};

}  // namespace

extern "C" {

// Of each row (row, key) of finite weights at least 0: lower <= theta <= upper, and whether that is exact; NaN for
// a row without weight. Rows of up to `exact_to` keys, at most 32, are exact. Returns 0, or -1 where memory is
// short.
int64_t sandbox_theta_bracket(const double* weights, int64_t n_rows, int64_t n_keys, double gap, int64_t exact_to,
                              double* lower, double* upper, uint8_t* exact) {
    const Room room(n_keys, std::min(n_keys, std::max(exact_to, MOST_SEARCHED_KEYS)));
    if (room.short_of()) return -1;
    for (int64_t r = 0; r < n_rows; r++) {
        const Row row = row_of(weights + r * n_keys, n_keys, room.sorted.get(), room.units.get());
        lower[r] = upper[r] = NAN;
        exact[r] = 0;
        if (row.n == 0) continue;
        Search search(row, room, gap);
        search.settle(exact_to);
        lower[r] = at_least(search.attained, row);
        upper[r] = at_most(search.bound, row);
        exact[r] = search.exact();
    }
    return 0;
}

// Of each row six lower bounds of theta, (bound, row): dominant atom, 1 - p_max^2, sorted prefix, longest first,
// fill below half, Karmarkar-Karp. Returns 0, or -1 where memory is short.
int64_t sandbox_theta_certificates(const double* weights, int64_t n_rows, int64_t n_keys, double* bounds) {
    const Room room(n_keys, 1);
    if (room.short_of()) return -1;
    for (int64_t r = 0; r < n_rows; r++) {
        const Row row = row_of(weights + r * n_keys, n_keys, room.sorted.get(), room.units.get());
        double* bound = bounds + r;
        if (row.n == 0) {
            for (int64_t i = 0; i < 6; i++) bound[i * n_rows] = NAN;
            continue;
        }
        std::memcpy(room.spare.get(), row.units, sizeof(int64_t) * size_t(row.n));
        const int64_t found[] = {
            size_of(2 * row.units[0] - row.total), row.units[0], sorted_prefix(row), longest_first(row),
            fill_below_half(row), *difference_largest(room.spare.get(), row.n, 1),
        };
        for (const int64_t difference : found) {
            *bound = at_least(difference, row);
            bound += n_rows;
        }
    }
    return 0;
}

// Of each row of whole numbers (row, key) min over S of |sum(S) - sum(rest)|. Sums of a row stay below 2^61.
// Returns 0, or -1 where memory is short.
int64_t sandbox_theta_smallest_difference(const int64_t* units, int64_t n_rows, int64_t n_keys, int64_t* best) {
    const auto memory = room_for<int64_t>(search_memory(std::max<int64_t>(n_keys, 1)));
    if (!memory) return -1;
    for (int64_t row = 0; row < n_rows; row++)
        best[row] = smallest_difference(units + row * n_keys, int(n_keys), memory.get());
    return 0;
}
}
