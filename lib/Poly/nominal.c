/* nominal.c: sizes and strides at typical parameter values, for cost models. */
#include "poly_private.h"

#include <isl/aff.h>
#include <isl/constraint.h>
#include <isl/ilp.h>
#include <isl/local_space.h>
#include <isl/map.h>
#include <isl/set.h>
#include <isl/space.h>
#include <isl/union_map.h>
#include <isl/val.h>
#include <limits.h>
#include <stddef.h>

/* A loop whose bound is a parameter is taken to have this many iterations. */
enum { NOMINAL_SIZE = 1000 };

/* Larger bounds are those of a type, and of no array. */
enum { MAX_SIZE = 1 << 24 };

/* All parameters `size`, growing or shrinking by `step` from one to the next.
 */
static __isl_give isl_set *fix_parameters(__isl_keep isl_set *context, int size,
                                          int step) {
  isl_size n = isl_set_dim(context, isl_dim_param);
  isl_set *fixed = isl_set_copy(context);
  for (int i = 0; i < n; ++i)
    fixed = isl_set_fix_si(fixed, isl_dim_param, (unsigned)i,
                           size + (step < 0 ? -step * (n - 1 - i) : step * i));
  return fixed;
}

/* Number of values that dimension `pos` of `set` spans, at least 1. */
static double extent_of(__isl_keep isl_set *set, int pos) {
  isl_local_space *space = isl_local_space_from_space(isl_set_get_space(set));
  isl_aff *value = isl_aff_var_on_domain(space, isl_dim_set, (unsigned)pos);
  isl_val *min = isl_set_min_val(set, value);
  isl_val *max = isl_set_max_val(set, value);
  double extent = 1;
  if (isl_val_is_int(min) == isl_bool_true &&
      isl_val_is_int(max) == isl_bool_true)
    extent = isl_val_get_d(max) - isl_val_get_d(min) + 1;
  isl_val_free(min);
  isl_val_free(max);
  isl_aff_free(value);
  return extent < 1 ? 1 : extent;
}

/* Adds the dimensions of a statement's instances that have one value only. */
static isl_stat add_single(__isl_take isl_set *instances, void *sum) {
  isl_size n = isl_set_dim(instances, isl_dim_set);
  for (int i = 0; i < n; ++i)
    *(int *)sum += extent_of(instances, i) <= 1;
  isl_set_free(instances);
  return n < 0 ? isl_stat_error : isl_stat_ok;
}

/* Loops of one iteration; INT_MAX if `domain` has no instance at all. */
static int single_iterations(__isl_keep isl_set *fixed,
                             __isl_keep isl_union_set *domain) {
  isl_union_set *some = isl_union_set_intersect_params(
      isl_union_set_copy(domain), isl_set_copy(fixed));
  int sum = 0;
  if (isl_union_set_is_empty(some) != isl_bool_false ||
      isl_union_set_foreach_set(some, add_single, &sum) < 0)
    sum = INT_MAX;
  isl_union_set_free(some);
  return sum;
}

/* Values with which loops have iterations: where two parameters bound one from
 * below and above, or by their difference, they cannot be equal. */
__isl_give isl_set *pacc_nominal_context(__isl_keep isl_set *context,
                                         __isl_keep isl_union_set *domain) {
  static const int sizes[] = {NOMINAL_SIZE, 100, 10, 1};
  static const int steps[] = {0, 1, -1};
  for (int s = 0; s < 4; ++s) {
    isl_set *best = NULL;
    int fewest = INT_MAX;
    for (int d = 0; d < 3 && fewest > 0; ++d) {
      isl_set *fixed = fix_parameters(context, sizes[s], steps[d] * sizes[s]);
      int single = single_iterations(fixed, domain);
      if (single < fewest) {
        isl_set_free(best);
        best = isl_set_copy(fixed);
        fewest = single;
      }
      isl_set_free(fixed);
    }
    if (best)
      return best;
  }
  return isl_set_from_point(isl_set_sample_point(isl_set_copy(context)));
}

__isl_give isl_set *pacc_nominal_sizes(const struct pacc_scop *scop) {
  isl_union_set *domain = isl_schedule_get_domain(scop->schedule);
  isl_set *sizes = isl_set_copy(scop->sizes ? scop->sizes : scop->context);
  sizes = isl_set_align_params(sizes, isl_union_set_get_space(domain));
  isl_set *nominal = pacc_nominal_context(sizes, domain);
  isl_union_set_free(domain);
  isl_set_free(sizes);
  return nominal;
}

/* Every parameter at its largest value, or at NOMINAL_SIZE if it has none. */
static __isl_give isl_set *fix_largest(__isl_keep isl_set *context) {
  isl_size n = isl_set_dim(context, isl_dim_param);
  isl_set *values =
      isl_set_move_dims(isl_set_from_params(isl_set_copy(context)), isl_dim_set,
                        0, isl_dim_param, 0, n < 0 ? 0 : (unsigned)n);
  isl_set *fixed = isl_set_copy(context);
  for (int i = 0; i < n; ++i) {
    isl_val *largest = isl_set_dim_max_val(isl_set_copy(values), i);
    if (isl_val_is_int(largest) == isl_bool_true &&
        isl_val_cmp_si(largest, MAX_SIZE) <= 0) {
      fixed = isl_set_fix_val(fixed, isl_dim_param, (unsigned)i, largest);
    } else {
      isl_val_free(largest);
      fixed = isl_set_fix_si(fixed, isl_dim_param, (unsigned)i, NOMINAL_SIZE);
    }
  }
  isl_set_free(values);
  return fixed;
}

/* What of `context` is in `other` too, if anything is. */
static __isl_give isl_set *meet(__isl_take isl_set *context,
                                __isl_keep isl_set *other) {
  if (!other)
    return context;
  isl_set *both = isl_set_intersect(isl_set_copy(context), isl_set_copy(other));
  if (isl_set_is_empty(both) == isl_bool_false) {
    isl_set_free(context);
    return both;
  }
  isl_set_free(both);
  return context;
}

__isl_give isl_set *pacc_expected_sizes(const struct pacc_scop *scop) {
  isl_union_set *domain = isl_schedule_get_domain(scop->schedule);
  isl_set *context = isl_set_align_params(isl_set_copy(scop->context),
                                          isl_union_set_get_space(domain));
  context = meet(context, scop->expected);
  isl_set *expected = fix_largest(context);
  isl_union_set *any = isl_union_set_intersect_params(
      isl_union_set_copy(domain), isl_set_copy(expected));
  if (isl_union_set_is_empty(any) != isl_bool_false) {
    isl_set_free(expected);
    expected = pacc_nominal_context(context, domain);
  }
  isl_union_set_free(any);
  isl_union_set_free(domain);
  isl_set_free(context);
  return expected;
}

double pacc_nominal_trips(__isl_keep isl_set *nominal,
                          __isl_keep isl_union_set *domain,
                          __isl_keep isl_union_map *loop, double *extent) {
  isl_union_set *at = isl_union_set_intersect_params(isl_union_set_copy(domain),
                                                     isl_set_copy(nominal));
  isl_union_set *points = isl_union_set_apply(at, isl_union_map_copy(loop));
  if (isl_union_set_is_empty(points) != isl_bool_false) {
    isl_union_set_free(points);
    for (unsigned i = 0; extent && i < PACC_MAX_DIMS; ++i)
      extent[i] = 1;
    return 1;
  }
  isl_set *set = isl_set_from_union_set(points);
  isl_size n = isl_set_dim(set, isl_dim_set);
  double trips = 1;
  for (int i = 0; i < n; ++i) {
    double trip = extent_of(set, i);
    if (extent && i < PACC_MAX_DIMS)
      extent[i] = trip;
    trips *= trip;
  }
  isl_set_free(set);
  return trips;
}

/* Share of the box `size` around a set whose dimensions from `pos` on are
 * open that its points fill: the mean over slices, the last dimension whole. */
static double filled_share(__isl_keep isl_set *set, int pos,
                           const double *size) {
  const int slices = 8;
  if (isl_set_is_empty(set) != isl_bool_false)
    return 0;
  isl_size n = isl_set_dim(set, isl_dim_set);
  if (pos == n - 1)
    return extent_of(set, pos) / size[pos];
  isl_val *least = isl_set_dim_min_val(isl_set_copy(set), pos);
  double sum = 0;
  for (int i = 0; i < slices; ++i) {
    long step = (long)(size[pos] * (2 * i + 1) / (2 * slices));
    isl_val *at = isl_val_add_ui(isl_val_copy(least), (unsigned long)step);
    isl_set *slice =
        isl_set_fix_val(isl_set_copy(set), isl_dim_set, (unsigned)pos, at);
    sum += filled_share(slice, pos + 1, size);
    isl_set_free(slice);
  }
  isl_val_free(least);
  return sum / slices;
}

/* The threads of the first or of the last launch. */
static __isl_give isl_set *threads_of_launch(__isl_keep isl_union_set *domain,
                                             __isl_keep isl_union_map *launch,
                                             __isl_keep isl_union_map *grid,
                                             bool last) {
  isl_union_set *one = isl_union_set_copy(domain);
  if (launch) {
    isl_union_set *at = isl_union_set_apply(isl_union_set_copy(domain),
                                            isl_union_map_copy(launch));
    at = last ? isl_union_set_lexmax(at) : isl_union_set_lexmin(at);
    at = isl_union_set_apply(at,
                             isl_union_map_reverse(isl_union_map_copy(launch)));
    one = isl_union_set_intersect(one, at);
  }
  return isl_set_from_union_set(
      isl_union_set_apply(one, isl_union_map_copy(grid)));
}

double pacc_nominal_active(__isl_keep isl_set *nominal,
                           __isl_keep isl_union_set *domain,
                           __isl_keep isl_union_map *launch,
                           __isl_keep isl_union_map *grid) {
  isl_union_set *at = isl_union_set_intersect_params(isl_union_set_copy(domain),
                                                     isl_set_copy(nominal));
  double active = 1, most = 0;
  for (int last = 0; last < (launch ? 2 : 1); ++last) {
    if (isl_union_set_is_empty(at) != isl_bool_false)
      break;
    isl_set *threads = threads_of_launch(at, launch, grid, last);
    isl_size n = isl_set_dim(threads, isl_dim_set);
    double size[PACC_MAX_DIMS], box = 1;
    for (int d = 0; d < n && d < PACC_MAX_DIMS; ++d)
      box *= size[d] = extent_of(threads, d);
    if (n > 0 && n <= PACC_MAX_DIMS && box > most) {
      most = box;
      active = filled_share(threads, 0, size);
    }
    isl_set_free(threads);
  }
  isl_union_set_free(at);
  return active > 0 && active < 1 ? active : 1;
}

/* Marks the dimension that an equality determines from the ones before it. */
static isl_stat mark_determined(__isl_take isl_constraint *c, void *user) {
  bool *determined = user;
  int n = (int)isl_constraint_dim(c, isl_dim_set);
  int divs = (int)isl_constraint_dim(c, isl_dim_div);
  /* i = 2e with some e determines nothing. */
  if (divs > 0 &&
      isl_constraint_involves_dims(c, isl_dim_div, 0, (unsigned)divs))
    n = 0;
  if (n > PACC_MAX_SET_DIMS)
    n = PACC_MAX_SET_DIMS;
  for (int d = n - 1; d >= 0; --d)
    if (isl_constraint_involves_dims(c, isl_dim_set, (unsigned)d, 1)) {
      determined[d] = true;
      break;
    }
  isl_constraint_free(c);
  return isl_stat_ok;
}

void pacc_determined_dims(__isl_keep isl_set *set,
                          bool determined[PACC_MAX_SET_DIMS]) {
  isl_basic_set *hull = isl_set_affine_hull(isl_set_copy(set));
  for (int d = 0; d < PACC_MAX_SET_DIMS; ++d)
    determined[d] = false;
  isl_basic_set_foreach_constraint(hull, mark_determined, determined);
  isl_basic_set_free(hull);
}

static int count_determined(__isl_keep isl_set *set) {
  bool determined[PACC_MAX_SET_DIMS];
  int n = 0;
  pacc_determined_dims(set, determined);
  for (int d = 0; d < PACC_MAX_SET_DIMS; ++d)
    n += determined[d];
  return n;
}

/* fn(set, user) for each piece; `least` is the smallest number of dimensions
 * that one of them determines. */
struct pieces {
  isl_stat (*fn)(__isl_take isl_set *set, void *user);
  void *user;
  int least;
};

static isl_stat measure_piece(__isl_take isl_basic_set *piece, void *user) {
  struct pieces *pieces = user;
  isl_set *set = isl_set_from_basic_set(piece);
  int n = count_determined(set);
  if (n < pieces->least)
    pieces->least = n;
  isl_set_free(set);
  return isl_stat_ok;
}

static isl_stat visit_piece(__isl_take isl_basic_set *piece, void *user) {
  struct pieces *pieces = user;
  return pieces->fn(isl_set_from_basic_set(piece), pieces->user);
}

isl_stat pacc_foreach_flat_part(__isl_take isl_set *set,
                                isl_stat (*fn)(__isl_take isl_set *set,
                                               void *user),
                                void *user) {
  struct pieces pieces = {fn, user, PACC_MAX_SET_DIMS};
  isl_size n = isl_set_n_basic_set(set);
  if (n > 1)
    isl_set_foreach_basic_set(set, measure_piece, &pieces);
  if (n <= 1 || pieces.least <= count_determined(set))
    return fn(set, user);
  isl_stat status = isl_set_foreach_basic_set(set, visit_piece, &pieces);
  isl_set_free(set);
  return status;
}

static isl_stat add_box(__isl_take isl_set *set, void *user) {
  double *sum = user;
  isl_size n = isl_set_dim(set, isl_dim_set);
  double box = isl_set_is_empty(set) == isl_bool_false ? 1 : 0;
  bool determined[PACC_MAX_SET_DIMS];
  pacc_determined_dims(set, determined);
  for (int i = 0; box > 0 && i < n && i < PACC_MAX_SET_DIMS; ++i)
    if (!determined[i])
      box *= extent_of(set, i);
  *sum += box;
  isl_set_free(set);
  return isl_stat_ok;
}

static isl_stat add_boxes(__isl_take isl_set *set, void *user) {
  return pacc_foreach_flat_part(set, add_box, user);
}

double pacc_nominal_instances(__isl_keep isl_set *nominal,
                              __isl_keep isl_union_set *domain) {
  double sum = 0;
  isl_union_set *at = isl_union_set_intersect_params(isl_union_set_copy(domain),
                                                     isl_set_copy(nominal));
  isl_union_set_foreach_set(at, add_boxes, &sum);
  isl_union_set_free(at);
  return sum;
}

struct involvement {
  unsigned iterator;
  bool found;
};

static isl_stat look_for(__isl_take isl_set *piece, __isl_take isl_aff *aff,
                         void *user) {
  struct involvement *i = user;
  i->found |=
      isl_aff_involves_dims(aff, isl_dim_in, i->iterator, 1) == isl_bool_true;
  isl_set_free(piece);
  isl_aff_free(aff);
  return isl_stat_ok;
}

/* Does the value depend on the iterator, wherever it is defined? */
static bool depends_on(__isl_keep isl_pw_aff *value, int iterator) {
  struct involvement i = {(unsigned)iterator, false};
  isl_pw_aff_foreach_piece(value, look_for, &i);
  return i.found;
}

int pacc_followed_iterator(__isl_keep isl_multi_union_pw_aff *loop, int pos,
                           __isl_keep isl_set *stmt) {
  isl_size n = isl_set_dim(stmt, isl_dim_set);
  isl_size members = isl_multi_union_pw_aff_dim(loop, isl_dim_set);
  int found = -1;
  for (int d = 0; d < n; ++d) {
    bool own = false, other = false;
    for (int m = 0; m < members; ++m) {
      isl_union_pw_aff *upa = isl_multi_union_pw_aff_get_union_pw_aff(loop, m);
      isl_space *space = isl_space_add_dims(
          isl_space_from_domain(isl_set_get_space(stmt)), isl_dim_out, 1);
      isl_pw_aff *pa = isl_union_pw_aff_extract_pw_aff(upa, space);
      isl_union_pw_aff_free(upa);
      bool involves = depends_on(pa, d);
      isl_pw_aff_free(pa);
      if (m == pos)
        own = involves;
      else
        other |= involves;
    }
    if (own && !other)
      return d;
    if (own && found < 0)
      found = d;
  }
  return found;
}

struct contiguity {
  const struct pacc_planner *planner;
  isl_union_set *domain;
  isl_multi_union_pw_aff *loop;
  int pos;
  double score;
};

static isl_stat take_first(__isl_take isl_set *piece,
                           __isl_take isl_multi_aff *aff, void *user) {
  isl_multi_aff **first = user;
  isl_set_free(piece);
  if (*first)
    isl_multi_aff_free(aff);
  else
    *first = aff;
  return isl_stat_ok;
}

__isl_give isl_multi_aff *
pacc_first_piece(__isl_take isl_pw_multi_aff *pieces) {
  isl_multi_aff *aff = NULL;
  isl_pw_multi_aff_foreach_piece(pieces, take_first, &aff);
  isl_pw_multi_aff_free(pieces);
  return aff;
}

static isl_stat score_access(__isl_take isl_map *access, void *user) {
  struct contiguity *c = user;
  isl_set *stmt = isl_map_domain(isl_map_copy(access));
  isl_size out = isl_map_dim(access, isl_dim_out);
  int d = pacc_followed_iterator(c->loop, c->pos, stmt);
  if (d < 0 || out < 1 || isl_map_is_single_valued(access) != isl_bool_true) {
    isl_set_free(stmt);
    isl_map_free(access);
    return isl_stat_ok;
  }
  isl_multi_aff *aff = pacc_first_piece(isl_pw_multi_aff_from_map(access));

  double row = 0, column = 0;
  for (int o = 0; aff && o < out; ++o) {
    isl_aff *index = isl_multi_aff_get_aff(aff, o);
    isl_val *value = isl_aff_get_coefficient_val(index, isl_dim_in, d);
    double k = isl_val_get_d(value);
    isl_val_free(value);
    isl_aff_free(index);
    if (o == out - 1)
      column = k < 0 ? -k : k;
    else if (k != 0)
      row = 1;
  }
  isl_multi_aff_free(aff);
  isl_union_set *one = isl_union_set_from_set(stmt);
  double weight = pacc_nominal_instances(c->planner->nominal, one);
  isl_union_set_free(one);
  /* A warp needs 8 sectors for contiguous doubles, 1 for the same address and
   * 32 for a column. */
  c->score += weight * (row != 0 || column > 3 ? 0 : column == 0 ? 1.5 : 2);
  return isl_stat_ok;
}

double pacc_member_contiguity(const struct pacc_planner *planner,
                              __isl_keep isl_union_set *domain,
                              __isl_keep isl_multi_union_pw_aff *loop,
                              int pos) {
  struct contiguity c = {planner, domain, loop, pos, 0};
  isl_union_map *accesses =
      isl_union_map_union(isl_union_map_copy(planner->scop->read),
                          isl_union_map_copy(planner->scop->may_write));
  accesses =
      isl_union_map_intersect_domain(accesses, isl_union_set_copy(domain));
  isl_union_map_foreach_map(accesses, score_access, &c);
  isl_union_map_free(accesses);
  return c.score;
}
