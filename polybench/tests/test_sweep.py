"""What sweeps say: polybench/runner/evaluate.py on small files."""

import tempfile
import unittest
from pathlib import Path

from support import POLYBENCH  # noqa: F401 (puts the runner in the path)

from runner import evaluate
from runner.evaluate import decisions

HEAD = "kernel,label,x,y,z,block,chosen,us,turns,launches\n"


class Decision:
    """A compiler's decision with estimates."""

    def __init__(self, block, estimates, smaller=()):
        self.block = block
        self.smaller = smaller
        self.candidates = [Candidate(*one) for one in estimates.items()]


    block_of = decisions.Kernel.block_of


class Candidate:
    def __init__(self, shape, time):
        self.shape = shape
        self.terms = {"time": time}


def read(rows):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "sweep.csv"
        path.write_text(HEAD + "".join(f"{row}\n" for row in rows))
        return evaluate.read_sweep(path)


class Sweeps(unittest.TestCase):
    def test_times_are_weighted_by_launches(self):
        sweep = read(["k,,100,1,1,32x1x1,32x1x1,2.0,2.0,10",
                      "k,,100,1,1,64x1x1,32x1x1,3.0,3.0,10",
                      "k,,500,1,1,32x1x1,32x1x1,8.0,8.0,1",
                      "k,,500,1,1,64x1x1,32x1x1,4.0,4.0,1",
                      "k,,500,1,1,96x1x1,32x1x1,,,1"])
        self.assertEqual(evaluate.totals(sweep["k"]),
                         {(32, 1, 1): 28.0, (64, 1, 1): 34.0})

    def test_shapes_that_a_grid_has_no_room_for(self):
        small, = read([f"k,,4,4,1,{block},32x8x1,{us},{us},1" for block, us in
                       (("32x1x1", 5), ("16x2x1", 6), ("8x4x1", 7))])["k"]
        self.assertEqual(small.fit((32, 8, 1)), (32, 1, 1))
        self.assertEqual(small.fit((128, 1, 1)), (32, 1, 1))
        self.assertEqual(small.fit((8, 32, 1)), (8, 4, 1))

    def test_fixed_shapes_keep_their_threads_on_a_line(self):
        line = read(["k,,999,1,1,256x1x1,32x1x1,1.0,1.0,1"])["k"]
        grid = read(["k,,999,9,1,32x8x1,32x8x1,1.0,1.0,1"])["k"]
        self.assertEqual(evaluate.line_shape((32, 8, 1), line), (256, 1, 1))
        self.assertEqual(evaluate.line_shape((32, 8, 1), grid), (32, 8, 1))

    def test_judgement(self):
        sweep = read(["k,,999,1,1,256x1x1,32x1x1,30.0,30.0,1",
                      "k,,999,1,1,32x1x1,32x1x1,20.0,20.0,1",
                      "k,,999,1,1,64x1x1,32x1x1,40.0,40.0,1"])
        choices = {"32x8": (32, 8, 1),
                   "auto": {"k": Decision((64, 1, 1), {(32, 1, 1): 1,
                                                       (64, 1, 1): 3,
                                                       (256, 1, 1): 2})}}
        found = evaluate.judge(sweep, choices, 10)
        self.assertEqual(found.best, 20.0)
        self.assertEqual(found.over, {"32x8": 1.5, "auto": 2.0})
        self.assertEqual(found.worst, 2.0)
        self.assertAlmostEqual(found.correlation, 1.0)
        kernel, = found.kernels
        self.assertEqual((kernel.best, kernel.auto, kernel.launches),
                         (20.0, 2.0, 1))
        self.assertFalse(kernel.is_short)

    def test_the_best_shape_is_not_found_with_the_time_it_gets(self):
        alike = read(["k,,999,1,1,32x1x1,32x1x1,1.0,3.0 1.0 3.1,2",
                      "k,,999,1,1,64x1x1,32x1x1,2.9,2.9 3.2 3.0,2",
                      "k,,999,1,1,96x1x1,32x1x1,9.0,9.0,2"])["k"]
        self.assertEqual(evaluate.total(alike, (32, 1, 1)), 6.0)
        self.assertEqual(evaluate.total(alike, (96, 1, 1)), 18.0)
        # By turns 1 and 2, 32 is the best, by 0 and 2, 64, by 0 and 1, 32.
        self.assertEqual(evaluate.best(alike), 6.2)

    def test_files_without_turns(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "sweep.csv"
            path.write_text("kernel,x,y,z,block,us,launches\n"
                            "k,9,1,1,32x1x1,2.5,4\n")
            self.assertEqual(evaluate.best(evaluate.read_sweep(path)["k"]), 10)

    def test_launches_have_blocks_by_their_size(self):
        sweep = read(["k,,100,1,1,32x1x1,32x1x1,1.0,1.0,5",
                      "k,,100,1,1,64x1x1,32x1x1,2.0,2.0,5",
                      "k,,999,1,1,32x1x1,32x1x1,9.0,9.0,1",
                      "k,,999,1,1,64x1x1,32x1x1,6.0,6.0,1"])
        decision = Decision((64, 1, 1), {(64, 1, 1): 1, (32, 1, 1): 2},
                            [(10, (32, 1, 1))])
        found = evaluate.judge(sweep, {"auto": {"k": decision}}, 10)
        self.assertEqual(found.best, 14.0)
        self.assertEqual(found.over, {"auto": 11 / 14})

    def test_rank_correlation(self):
        self.assertAlmostEqual(evaluate.rank_correlation([1, 2, 3], [3, 2, 1]),
                               -1)
        self.assertAlmostEqual(evaluate.rank_correlation([1, 2, 2, 4],
                                                         [1, 2, 2, 9]), 1)
        self.assertIsNone(evaluate.rank_correlation([1, 2], [5, 5]))


if __name__ == "__main__":
    unittest.main()
