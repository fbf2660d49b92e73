/* access.c: how the accesses of a kernel move from thread to thread. */
#include "poly_private.h"

#include <isl/aff.h>
#include <isl/map.h>
#include <isl/set.h>
#include <isl/union_map.h>
#include <isl/val.h>
#include <string.h>

struct walk {
  const struct pacc_kernel_plan *kernel;
  isl_multi_union_pw_aff *grid;
  isl_set *nominal;
  bool write;
  void (*report)(const struct pacc_access_step *step, void *user);
  void *user;
};

static long coefficient(__isl_keep isl_multi_aff *access, int index,
                        int iterator) {
  isl_aff *aff = isl_multi_aff_get_aff(access, index);
  isl_val *value = iterator < 0
                       ? isl_aff_get_constant_val(aff)
                       : isl_aff_get_coefficient_val(aff, isl_dim_in, iterator);
  long result =
      isl_val_is_int(value) == isl_bool_true ? isl_val_get_num_si(value) : 0;
  isl_val_free(value);
  isl_aff_free(aff);
  return result;
}

/* Integer divisions (of a remainder, say) are no constant apart. */
static bool divides(__isl_keep isl_multi_aff *access, int indices) {
  bool found = false;
  for (int k = 0; k < indices; ++k) {
    isl_aff *aff = isl_multi_aff_get_aff(access, k);
    found |= isl_aff_dim(aff, isl_dim_div) != 0;
    isl_aff_free(aff);
  }
  return found;
}

/* Neighbours whose loops begin at other iterations are that much apart: adds
 * where the loop over iterator `loop` begins to the steps. */
static void follow_loop(struct pacc_access_step *step, __isl_keep isl_set *stmt,
                        int loop, const int followed[PACC_MAX_DIMS],
                        unsigned n_dims) {
  isl_size n = isl_set_dim(stmt, isl_dim_set);
  isl_map *begin = isl_map_from_domain(isl_set_copy(stmt));
  begin = isl_map_move_dims(begin, isl_dim_out, 0, isl_dim_in, (unsigned)loop,
                            n < 0 ? 0 : 1);
  isl_multi_aff *first =
      pacc_first_piece(isl_pw_multi_aff_from_map(isl_map_lexmin(begin)));
  for (unsigned d = 0; first && d < n_dims; ++d) {
    if (followed[d] < 0)
      continue;
    /* The loop's own iterator is no input any more. */
    long shift = coefficient(
        first, 0, followed[d] > loop ? followed[d] - 1 : followed[d]);
    for (unsigned k = 0; k < step->n_indices; ++k)
      step->step[d][k] += shift * step->step[PACC_MAX_DIMS][k];
  }
  isl_multi_aff_free(first);
}

bool pacc_step_moves(const struct pacc_access_step *step, unsigned dim) {
  for (unsigned k = 0; k < step->n_indices; ++k)
    if (step->step[dim][k] != 0)
      return true;
  return false;
}

static void report_access(struct walk *w, __isl_take isl_map *access) {
  struct pacc_access_step step;
  memset(&step, 0, sizeof(step));
  isl_set *stmt = isl_map_domain(isl_map_copy(access));
  isl_size iterators = isl_set_dim(stmt, isl_dim_set);
  isl_size indices = isl_map_dim(access, isl_dim_out);
  isl_id *array = isl_map_get_tuple_id(access, isl_dim_out);
  step.array = array;
  step.write = w->write;
  step.n_indices = indices < 0 ? 0 : (unsigned)indices;

  isl_union_set *instances = isl_union_set_from_set(isl_set_copy(stmt));
  double threads = 1;
  for (unsigned d = 0; d < w->kernel->n_dims; ++d)
    threads *= w->kernel->extent[d];
  step.count = pacc_nominal_instances(w->nominal, instances) /
               w->kernel->launches / threads;
  isl_union_set_free(instances);

  isl_multi_aff *aff = NULL;
  if (indices <= PACC_MAX_INDICES &&
      isl_map_is_single_valued(access) == isl_bool_true)
    aff = pacc_first_piece(isl_pw_multi_aff_from_map(isl_map_copy(access)));
  if (aff && divides(aff, indices))
    aff = isl_multi_aff_free(aff);
  step.affine = aff != NULL;
  int followed[PACC_MAX_DIMS] = {-1, -1, -1};
  for (unsigned d = 0; aff && d < w->kernel->n_dims; ++d) {
    followed[d] = pacc_followed_iterator(w->grid, (int)d, stmt);
    for (int k = 0; followed[d] >= 0 && k < indices; ++k)
      step.step[d][k] = coefficient(aff, k, followed[d]);
  }
  for (int k = 0; aff && k < indices; ++k)
    step.offset[k] = coefficient(aff, k, -1);
  step.points = w->kernel->tile;
  if (aff && !pacc_step_moves(&step, PACC_TILE_DIM)) {
    step.count /= step.points;
    step.points = 1;
  }
  /* The innermost loop of the thread, if the statement is in one. */
  double trips = step.count / step.points;
  for (int i = iterators - 1; aff && trips > 1.5 && i >= 0; --i) {
    if (i == followed[0] || i == followed[1] || i == followed[2])
      continue;
    step.sequential = true;
    for (int k = 0; k < indices; ++k)
      step.step[PACC_MAX_DIMS][k] = coefficient(aff, k, i);
    follow_loop(&step, stmt, i, followed, w->kernel->n_dims);
    break;
  }
  for (unsigned k = 0; k < step.n_indices; ++k)
    step.step[PACC_TILE_DIM][k] *= w->kernel->tile;
  w->report(&step, w->user);
  isl_multi_aff_free(aff);
  isl_id_free(array);
  isl_set_free(stmt);
  isl_map_free(access);
}

/* Takes a relation apart, the smallest index first (the points of a stencil).
 * What is left after MAX_POINTS of them is one access with no known steps. */
static isl_stat walk_basic(__isl_take isl_basic_map *basic, void *user) {
  enum { MAX_POINTS = 32 };
  struct walk *w = user;
  isl_map *access = isl_map_from_basic_map(basic);
  for (int n = 0; n < MAX_POINTS; ++n) {
    if (isl_map_is_single_valued(access) != isl_bool_false)
      break;
    isl_map *first = isl_map_lexmin(isl_map_copy(access));
    if (!first)
      break;
    access = isl_map_subtract(access, isl_map_copy(first));
    report_access(w, first);
  }
  if (isl_map_is_empty(access) == isl_bool_false)
    report_access(w, access);
  else
    isl_map_free(access);
  return isl_stat_ok;
}

/* The accesses of one statement to one array come as one relation. */
static isl_stat walk_access(__isl_take isl_map *access, void *user) {
  isl_stat status = isl_stat_ok;
  if (isl_map_is_single_valued(access) == isl_bool_true) {
    report_access(user, access);
    return status;
  }
  status = isl_map_foreach_basic_map(access, walk_basic, user);
  isl_map_free(access);
  return status;
}

void pacc_kernel_foreach_access(
    const struct pacc_kernel_plan *kernel, const struct pacc_scop *scop,
    void (*report)(const struct pacc_access_step *step, void *user),
    void *user) {
  struct walk w = {kernel, NULL, NULL, false, report, user};
  w.nominal = pacc_expected_sizes(scop);
  for (unsigned d = 0; d < kernel->n_dims; ++d) {
    isl_multi_union_pw_aff *one =
        isl_multi_union_pw_aff_from_union_pw_aff(isl_union_pw_aff_copy(
            d == PACC_TILE_DIM && kernel->point ? kernel->point
                                                : kernel->dim[d]));
    w.grid =
        w.grid ? isl_multi_union_pw_aff_flat_range_product(w.grid, one) : one;
  }
  for (int write = 0; write < 2; ++write) {
    isl_union_map *accesses =
        isl_union_map_copy(write ? scop->may_write : scop->read);
    accesses = isl_union_map_intersect_domain(
        accesses, isl_union_set_copy(kernel->domain));
    w.write = write != 0;
    isl_union_map_foreach_map(accesses, walk_access, &w);
    isl_union_map_free(accesses);
  }
  isl_multi_union_pw_aff_free(w.grid);
  isl_set_free(w.nominal);
}
