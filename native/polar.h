// C = sigma_max U V^T of a matrix W = U S V^T, in double precision (arXiv 2603.07162, Theorem 3.5).
//
// One-sided Jacobi (Hestenes 1958): rows are turned in pairs until all are orthogonal. Then R W = S V^T with R
// the product of the turns, so U = R^T, and U V^T needs no more than rows of length one.
#pragma once
#include <cmath>

#include "turns.h"

namespace sandbox {

// A sum of products in double precision: eight sums side by side, always added in the same order.
template <class A, class B>
inline double dot(const A* a, const B* b, int n) {
    double part[8]{};
    int i = 0;
    for (; i + 8 <= n; i += 8)
        for (int k = 0; k < 8; k++) part[k] += double(a[i + k]) * double(b[i + k]);
    for (int k = 0; i < n; i++, k++) part[k] += double(a[i]) * double(b[i]);
    return ((part[0] + part[1]) + (part[2] + part[3])) + ((part[4] + part[5]) + (part[6] + part[7]));
}

constexpr int MOST_SWEEPS = 40;
constexpr double STRAIGHT = 1e-15;  // cosine below which two rows are orthogonal
constexpr double NEARLY = 1e-8;     // what a sweep leaves of this is gone: it converges quadratically

class Polar {
  public:
    // Doubles that `lift` works in.
    static int64_t room(int rows, int columns) { return int64_t(rows) * (rows + columns + 1); }

    // Writes C (rows, columns) of `weight`, rows <= columns. Numbers that are not finite count as 0; rows that
    // vanish have no direction and get no correction.
    static void lift(const float* weight, int rows, int columns, double* room, float* correction) {
        double *turned = room, *turns = turned + int64_t(rows) * columns, *squares = turns + int64_t(rows) * rows;
        for (int64_t i = 0; i < int64_t(rows) * columns; i++)
            turned[i] = std::isfinite(weight[i]) ? double(weight[i]) : 0.0;
        for (int i = 0; i < rows; i++)
            for (int j = 0; j < rows; j++) turns[i * rows + j] = i == j;
        for (int sweep = 0; sweep < MOST_SWEEPS; sweep++) {
            for (int i = 0; i < rows; i++) squares[i] = dot(turned + i * columns, turned + i * columns, columns);
            double greatest = 0.0;
            for (int i = 0; i + 1 < rows; i++) {
                for (int j = i + 1; j < rows; j++) {
                    const double cosine = turn(i, j, rows, columns, turned, turns, squares);
                    greatest = cosine > greatest ? cosine : greatest;
                }
                breathe(int64_t(rows - i) * (rows + columns) / 4);
            }
            if (greatest <= NEARLY) break;
        }
        double longest = 0.0;
        for (int i = 0; i < rows; i++) {
            squares[i] = dot(turned + i * columns, turned + i * columns, columns);
            longest = squares[i] > longest ? squares[i] : longest;
        }
        for (int i = 0; i < rows; i++) {
            const double stretch = squares[i] > 0.0 ? std::sqrt(longest) / std::sqrt(squares[i]) : 0.0;
            for (int c = 0; c < columns; c++) turned[i * columns + c] *= stretch;
        }
        double* sum = squares;  // a row of C; rows <= columns, so it is written in pieces
        for (int a = 0; a < rows; a++) {
            for (int first = 0; first < columns; first += rows) {
                const int count = columns - first < rows ? columns - first : rows;
                for (int c = 0; c < count; c++) sum[c] = 0.0;
                for (int i = 0; i < rows; i++)
                    for (int c = 0; c < count; c++)
                        sum[c] += turns[i * rows + a] * turned[i * columns + first + c];
                for (int c = 0; c < count; c++) correction[a * columns + first + c] = float(sum[c]);
            }
            breathe(int64_t(rows) * columns / 4);
        }
    }

  private:
    // Turns rows i and j until they are orthogonal; answers the size of the cosine that they had.
    static double turn(int i, int j, int rows, int columns, double* turned, double* turns, double* squares) {
        double *x = turned + int64_t(i) * columns, *y = turned + int64_t(j) * columns;
        const double common = dot(x, y, columns), size = std::sqrt(squares[i]) * std::sqrt(squares[j]);
        const double cosine = size > 0.0 ? std::fabs(common) / size : 0.0;
        if (!(cosine > STRAIGHT)) return 0.0;
        const double half = (squares[j] - squares[i]) / (2.0 * common);
        const double tangent = (half < 0.0 ? -1.0 : 1.0) / (std::fabs(half) + std::sqrt(1.0 + half * half));
        const double c = 1.0 / std::sqrt(1.0 + tangent * tangent), s = c * tangent;
        rotate(x, y, columns, c, s);
        rotate(turns + int64_t(i) * rows, turns + int64_t(j) * rows, rows, c, s);
        shift(squares[i], -tangent * common, x, columns);
        shift(squares[j], tangent * common, y, columns);
        return cosine;
    }

    // The square of a row's length after a turn; measured anew where subtraction would leave few digits.
    static void shift(double& square, double by, const double* row, int n) {
        const double moved = square + by;
        square = moved > 0.01 * square ? moved : dot(row, row, n);
    }

    static void rotate(double* x, double* y, int n, double c, double s) {
        for (int k = 0; k < n; k++) {
            const double a = x[k], b = y[k];
            x[k] = c * a - s * b;
            y[k] = s * a + c * b;
        }
    }
};

}  // namespace sandbox
