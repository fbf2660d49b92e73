/* random_region.c: writes random programs as the text of regions. */
#include "random_region.h"

#include "support.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_DEPTH = 3, MAX_STATEMENTS = 4, MAX_NODES = 32, MAX_CHILDREN = 3 };

/* A loop (over iterator `depth`), a sequence or a statement.
 * descending   the loop counts down
 * joined       the loop is of one band with the one in it */
struct node {
  enum { LOOP, SEQUENCE, STATEMENT } kind;
  int depth;
  bool descending, joined;
  int n_children;
  int child[MAX_CHILDREN];
  int statement;
};

struct statement {
  int depth;
  char domain[512];
};

struct program {
  uint64_t seed;
  int n_nodes, n_statements;
  struct node node[MAX_NODES];
  struct statement statement[MAX_STATEMENTS];
  bool has_scalars;
};

static bool chance(struct program *p, unsigned percent) {
  return draw(&p->seed, 100) < percent;
}

static const char *parameter(struct program *p) {
  return chance(p, 70) ? "n" : "m";
}

/*===-- Domains -----------------------------------------------------------===*/

/* Bounds of iterator i<depth>, which may use the outer ones. */
static void print_bounds(FILE *out, struct program *p, int depth) {
  unsigned outer = depth ? draw(&p->seed, (unsigned)depth) : 0;
  switch (depth ? draw(&p->seed, 10) : draw(&p->seed, 3)) {
  case 0:
    fprintf(out, "1 <= i%d < %s", depth, parameter(p));
    break;
  case 1:
    fprintf(out, "0 <= i%d <= %s", depth, parameter(p));
    break;
  case 3:
    fprintf(out, "i%u < i%d < %s", outer, depth, parameter(p));
    break;
  case 4:
    fprintf(out, "0 <= i%d <= i%u", depth, outer);
    break;
  case 5:
    fprintf(out, "0 <= i%d < i%u", depth, outer);
    break;
  case 6:
    fprintf(out, "0 <= i%d < %s - i%u", depth, parameter(p), outer);
    break;
  case 7:
    fprintf(out, "0 <= i%d < 3", depth);
    break;
  default:
    fprintf(out, "0 <= i%d < %s", depth, parameter(p));
  }
  if (chance(p, 8))
    fprintf(out, " and i%d mod 2 = %u", depth, draw(&p->seed, 2));
}

static void print_guard(FILE *out, struct program *p, int depth) {
  unsigned a = draw(&p->seed, (unsigned)depth);
  unsigned b = draw(&p->seed, (unsigned)depth);
  switch (draw(&p->seed, 4)) {
  case 0:
    fprintf(out, " and i%u >= i%u", a, b);
    break;
  case 1:
    fprintf(out, " and i%u = %s - 1", a, parameter(p));
    break;
  case 2:
    fprintf(out, " and i%u + i%u <= %s", a, b, parameter(p));
    break;
  default:
    fprintf(out, " and (i%u < 2 or i%u > 3)", a, b);
  }
}

/*===-- Loops -------------------------------------------------------------===*/

static int new_node(struct program *p, int kind, int depth) {
  p->node[p->n_nodes] = (struct node){.depth = depth};
  p->node[p->n_nodes].kind = (__typeof__(p->node[0].kind))kind;
  return p->n_nodes++;
}

static int make_statement(struct program *p, int depth, const char *domain) {
  int node = new_node(p, STATEMENT, depth);
  struct statement *s = &p->statement[p->n_statements];
  p->node[node].statement = p->n_statements++;
  s->depth = depth;
  snprintf(s->domain, sizeof(s->domain), "%s", domain);
  if (depth && chance(p, 12)) {
    FILE *out = must(fmemopen(s->domain, sizeof(s->domain), "a"));
    print_guard(out, p, depth);
    fclose(out);
  }
  return node;
}

static int make_body(struct program *p, int depth, const char *domain,
                     int statements);

static int make_loop(struct program *p, int depth, const char *domain,
                     int statements) {
  int node = new_node(p, LOOP, depth);
  char inner[400];
  FILE *out = must(fmemopen(inner, sizeof(inner), "w"));
  fprintf(out, "%s%s", domain, depth ? " and " : "");
  print_bounds(out, p, depth);
  fclose(out);
  p->node[node].n_children = 1;
  p->node[node].descending = chance(p, 10);
  p->node[node].joined = chance(p, 10);
  int child = make_body(p, depth + 1, inner, statements);
  p->node[node].child[0] = child;
  return node;
}

/* What stands in a loop: as many statements as said, in loops of their own or
 * not. */
static int make_body(struct program *p, int depth, const char *domain,
                     int statements) {
  if (statements == 1 || (depth < MAX_DEPTH && chance(p, 35))) {
    if (depth < MAX_DEPTH && (depth == 0 || chance(p, 60)))
      return make_loop(p, depth, domain, statements);
    if (statements == 1)
      return make_statement(p, depth, domain);
  }
  int node = new_node(p, SEQUENCE, depth);
  int n = statements < 2 || chance(p, 50) ? 2 : statements;
  n = n > MAX_CHILDREN ? MAX_CHILDREN : n;
  for (int i = 0; i < n; ++i) {
    int share = i == n - 1 ? statements : 1;
    statements -= share;
    p->node[node].child[p->node[node].n_children++] = -1;
    int child = make_body(p, depth, domain, share);
    p->node[node].child[i] = child;
  }
  return node;
}

/*===-- Printing ----------------------------------------------------------===*/

static void print_instance(FILE *out, const struct program *p, int s) {
  fprintf(out, "S%d[", s);
  for (int d = 0; d < p->statement[s].depth; ++d)
    fprintf(out, "%si%d", d ? ", " : "", d);
  fprintf(out, "]");
}

static void visit(const struct program *p, int node, FILE *out,
                  void (*fn)(FILE *, const struct program *, int, int),
                  int argument) {
  const struct node *n = &p->node[node];
  if (n->kind == STATEMENT)
    fn(out, p, n->statement, argument);
  for (int i = 0; i < n->n_children; ++i)
    visit(p, n->child[i], out, fn, argument);
}

static void print_filter(FILE *out, const struct program *p, int s, int depth) {
  (void)depth;
  print_instance(out, p, s);
  fprintf(out, "; ");
}

static void print_iterator(FILE *out, const struct program *p, int s,
                           int depth) {
  print_instance(out, p, s);
  fprintf(out, " -> [i%d]; ", depth);
}

static void print_reverse(FILE *out, const struct program *p, int s,
                          int depth) {
  print_instance(out, p, s);
  fprintf(out, " -> [-i%d]; ", depth);
}

static void print_tree(FILE *out, const struct program *p, int node);

/* The bands of a loop, and of the loops in it that belong to its band. */
static void print_loop(FILE *out, const struct program *p, int node) {
  const struct node *n = &p->node[node];
  fprintf(out, "schedule: \"[n, m] -> [");
  for (;; n = &p->node[node]) {
    fprintf(out, "{ ");
    visit(p, node, out, n->descending ? print_reverse : print_iterator,
          n->depth);
    fprintf(out, "}");
    node = n->child[0];
    if (!n->joined || p->node[node].kind != LOOP)
      break;
    fprintf(out, ", ");
  }
  fprintf(out, "]\"");
  print_tree(out, p, node);
}

/* The tree of a node; nothing for a statement, which is a leaf. */
static void print_tree(FILE *out, const struct program *p, int node) {
  const struct node *n = &p->node[node];
  if (n->kind == STATEMENT)
    return;
  fprintf(out, ",\n  child: { ");
  if (n->kind == LOOP) {
    print_loop(out, p, node);
  } else {
    fprintf(out, "sequence: [");
    for (int i = 0; i < n->n_children; ++i) {
      fprintf(out, "%s\n  { filter: \"[n, m] -> { ", i ? "," : "");
      visit(p, n->child[i], out, print_filter, 0);
      fprintf(out, "}\"");
      print_tree(out, p, n->child[i]);
      fprintf(out, " }");
    }
    fprintf(out, "]");
  }
  fprintf(out, " }");
}

/* An index of an array, in the iterators of a statement. */
static void print_index(FILE *out, struct program *p, int depth) {
  if (!depth) {
    fprintf(out, "%u", draw(&p->seed, 2));
    return;
  }
  unsigned a = draw(&p->seed, (unsigned)depth);
  unsigned b = draw(&p->seed, (unsigned)depth);
  switch (draw(&p->seed, 16)) {
  case 0:
    fprintf(out, "i%u + i%u", a, b);
    break;
  case 1:
    fprintf(out, "2 * i%u", a);
    break;
  case 2:
    fprintf(out, "n - 1 - i%u", a);
    break;
  case 3:
    fprintf(out, "%u", draw(&p->seed, 3));
    break;
  case 4:
    fprintf(out, "i%u - i%u", a, b);
    break;
  case 5:
  case 6:
    fprintf(out, "i%u - 1", a);
    break;
  case 7:
  case 8:
    fprintf(out, "i%u + 1", a);
    break;
  default:
    fprintf(out, "i%u", a);
  }
}

static void print_access(FILE *out, struct program *p, int s, bool write) {
  static const struct {
    const char *name;
    int dims;
  } arrays[] = {{"A", 2}, {"B", 1}, {"C", 2}, {"D", 1}, {"E", 3}, {"Z", 1}};
  int depth = p->statement[s].depth;
  /* Statements that share arrays depend on each other: prefer the first. */
  unsigned array = chance(p, 60) ? draw(&p->seed, 2) : draw(&p->seed, 6);
  print_instance(out, p, s);
  fprintf(out, " -> %s[", arrays[array].name);
  if (!write && depth && arrays[array].dims < 3 && chance(p, 5)) {
    unsigned a = draw(&p->seed, (unsigned)depth);
    if (arrays[array].dims == 2)
      print_index(out, p, depth);
    fprintf(out, "%sx] : 0 <= x <= i%u", arrays[array].dims == 2 ? ", " : "",
            a);
  } else {
    for (int d = 0; d < arrays[array].dims; ++d) {
      fprintf(out, d ? ", " : "");
      if (array == 5)
        fprintf(out, "0");
      else
        print_index(out, p, depth);
    }
    fprintf(out, "]");
  }
  fprintf(out, "; ");
}

/* Accesses of the local scalars x and y; some statements have none. */
static void print_scalars(FILE *out, struct program *p, unsigned percent) {
  for (int s = 0; s < p->n_statements; ++s)
    for (int scalar = 0; scalar < 2; ++scalar)
      if (p->has_scalars && chance(p, scalar ? percent / 3 : percent)) {
        print_instance(out, p, s);
        fprintf(out, " -> %s[]; ", scalar ? "y" : "x");
      }
}

static void print_domain(FILE *out, const struct program *p) {
  fprintf(out, "{ domain: \"[n, m] -> { ");
  for (int s = 0; s < p->n_statements; ++s) {
    print_instance(out, p, s);
    fprintf(out, " : %s; ",
            p->statement[s].depth ? p->statement[s].domain : "0 = 0");
  }
  fprintf(out, "}\"");
}

static void print_accesses(FILE *out, struct program *p) {
  fprintf(out, "read: [n, m] -> { ");
  for (int s = 0; s < p->n_statements; ++s)
    for (unsigned i = 1 + draw(&p->seed, 3); i > 0; --i)
      print_access(out, p, s, false);
  fprintf(out, "}\n");

  char *definite = NULL, *maybe = NULL;
  size_t size;
  FILE *certain = must(open_memstream(&definite, &size));
  FILE *possible = must(open_memstream(&maybe, &size));
  for (int s = 0; s < p->n_statements; ++s)
    print_access(chance(p, 10) ? possible : certain, p, s, true);
  fclose(certain);
  fclose(possible);
  fprintf(out, "must_write: [n, m] -> { %s}\n", definite);
  fprintf(out, "may_write: [n, m] -> { %s%s}\n", definite, maybe);
  free(definite);
  free(maybe);

  fprintf(out, "local_read: [n, m] -> { ");
  print_scalars(out, p, 50);
  fprintf(out, "}\nlocal_write: [n, m] -> { ");
  print_scalars(out, p, 60);
  fprintf(out, "}\n");
}

/* isl takes no semicolon after the last entry of a list. */
static void drop_last_semicolons(char *text) {
  for (; (text = strstr(text, "; }")); ++text)
    *text = ' ';
}

char *random_region(uint64_t seed) {
  struct program *p = must(calloc(1, sizeof(*p)));
  p->seed = seed * UINT64_C(0x9e3779b97f4a7c15) + 1;
  draw(&p->seed, 2);
  p->has_scalars = chance(p, 35);
  int statements = 1 + (int)draw(&p->seed, MAX_STATEMENTS);
  int root = make_body(p, 0, "", statements);

  char *text = NULL;
  size_t size = 0;
  FILE *out = must(open_memstream(&text, &size));
  fprintf(out, "schedule: ");
  print_domain(out, p);
  print_tree(out, p, root);
  fprintf(out, " }\ncontext: [n, m] -> { : %s }\n",
          chance(p, 50)   ? "0 <= n <= 2147483647 and 0 <= m <= 2147483647"
          : chance(p, 50) ? "n >= 1 and m >= n"
                          : "m <= 1000");
  print_accesses(out, p);
  fclose(out);
  free(p);
  drop_last_semicolons(must(text));
  return text;
}
