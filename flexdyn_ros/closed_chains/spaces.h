/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Complete orthogonal decompositions by Householder reflections with column pivoting; the method
 * and its sources are those of solve.py. SIZE, which stands before it, is the most
 * rows and columns.
 */
#include <math.h>
#include <string.h>

/* A^T P = Q R and, where rows repeat each other, R^T = Z T; reflections I - scale v v^T. */
typedef struct {
    int rows, columns, rank, order[SIZE];
    double w[SIZE][SIZE], diagonal[SIZE], scale[SIZE]; /* row j: R[.][j], then reflection j */
    double z[SIZE][SIZE], inner[SIZE], inner_scale[SIZE];
    double free[SIZE][SIZE]; /* orthonormal motions that the rows leave free */
} spaces;

static inline double dot(const double *a, const double *b, int count)
{
    double sum = 0.0;
    for (int k = 0; k < count; ++k)
        sum += a[k] * b[k];
    return sum;
}

static inline void add(double *to, double factor, const double *v, int count)
{
    for (int k = 0; k < count; ++k)
        to[k] += factor * v[k];
}

static inline double largest(const double *v, int count)
{
    double most = 0.0;
    for (int k = 0; k < count; ++k)
        most = fabs(v[k]) > most ? fabs(v[k]) : most;
    return most;
}

/* Make x the reflection that takes it onto its first axis; return its coordinate there. */
static inline double reflection(double *x, double square, double *scale)
{
    const double end = x[0] > 0.0 ? -sqrt(square) : sqrt(square);
    *scale = square > 0.0 ? 1.0 / (end * (end - x[0])) : 0.0;
    x[0] -= end;
    return end;
}

static inline void reflect(const double *v, double scale, double *x, int count)
{
    add(x, -scale * dot(v, x, count), v, count);
}

/* Find the spaces of s->w, (rows, columns); `rank` is known where it is not negative. */
static void decompose(spaces *s, int rows, int columns, int rank, double tolerance, double floor)
{
    double squares[SIZE];
    const int most = rows < columns ? rows : columns;
    int k;
    s->rows = rows;
    s->columns = columns;
    for (int j = 0; j < rows; ++j) {
        s->order[j] = j;
        squares[j] = dot(s->w[j], s->w[j], columns);
    }
    for (k = 0; k < most && (rank < 0 || k < rank); ++k) {
        double row[SIZE];
        int best = k, moved;
        for (int j = k + 1; j < rows; ++j)
            best = squares[j] > squares[best] ? j : best;
        if (rank >= 0)
            floor = 0.0;
        else if (k == 0)
            floor = fmax(floor, tolerance * sqrt(squares[best]));
        if (!(sqrt(squares[best]) > floor))
            break;
        if (best != k) {
            memcpy(row, s->w[k], sizeof(double) * columns);
            memcpy(s->w[k], s->w[best], sizeof(double) * columns);
            memcpy(s->w[best], row, sizeof(double) * columns);
            moved = s->order[k];
            s->order[k] = s->order[best];
            s->order[best] = moved;
            row[0] = squares[k];
            squares[k] = squares[best];
            squares[best] = row[0];
        }
        s->diagonal[k] = reflection(s->w[k] + k, squares[k], &s->scale[k]);
        for (int j = k + 1; j < rows; ++j) {
            reflect(s->w[k] + k, s->scale[k], s->w[j] + k, columns - k);
            squares[j] = dot(s->w[j] + k + 1, s->w[j] + k + 1, columns - k - 1);
        }
    }
    s->rank = k;
    for (k = 0; k < s->rank && s->rank < rows; ++k) {
        for (int j = 0; j < rows; ++j)
            s->z[k][j] = j < k ? 0.0 : j == k ? s->diagonal[k] : s->w[j][k];
        for (int i = 0; i < k; ++i)
            reflect(s->z[i] + i, s->inner_scale[i], s->z[k] + i, rows - i);
        s->inner[k] = reflection(
            s->z[k] + k, dot(s->z[k] + k, s->z[k] + k, rows - k), &s->inner_scale[k]);
    }
    for (k = s->rank; k < columns; ++k) {
        double *motion = s->free[k - s->rank];
        memset(motion, 0, sizeof(double) * columns);
        motion[k] = 1.0;
        for (int i = s->rank - 1; i >= 0; --i)
            reflect(s->w[i] + i, s->scale[i], motion + i, columns - i);
    }
}

/* right = P^T c, turned by Z^T where rows repeat each other. */
static void sorted(const spaces *s, const double *c, double *right)
{
    for (int i = 0; i < s->rows; ++i)
        right[i] = c[s->order[i]];
    if (s->rank < s->rows)
        for (int i = 0; i < s->rank; ++i)
            reflect(s->z[i] + i, s->inner_scale[i], right + i, s->rows - i);
}

/* The smallest x with A x = c in the least-squares sense. */
static void particular(const spaces *s, const double *c, double *x)
{
    double right[SIZE];
    const int rank = s->rank;
    sorted(s, c, right);
    memset(x, 0, sizeof(double) * s->columns);
    if (rank == s->rows)
        for (int i = 0; i < rank; ++i)
            x[i] = (right[i] - dot(s->w[i], x, i)) / s->diagonal[i];
    else
        for (int i = rank - 1; i >= 0; --i) {
            double sum = right[i];
            for (int j = i + 1; j < rank; ++j)
                sum -= s->z[j][i] * x[j];
            x[i] = sum / s->inner[i];
        }
    for (int i = rank - 1; i >= 0; --i)
        reflect(s->w[i] + i, s->scale[i], x + i, s->columns - i);
}

/* The largest part of c that no motion gives. */
static double contradiction(const spaces *s, const double *c)
{
    double right[SIZE];
    if (s->rank == s->rows)
        return 0.0;
    sorted(s, c, right);
    memset(right, 0, sizeof(double) * s->rank);
    for (int i = s->rank - 1; i >= 0; --i)
        reflect(s->z[i] + i, s->inner_scale[i], right + i, s->rows - i);
    return largest(right, s->rows);
}
