"""What the tests share: the folder of the scripts on the import path, and
programs that stand in for built kernels."""

import sys
from pathlib import Path

POLYBENCH = Path(__file__).resolve().parents[1]
if str(POLYBENCH) not in sys.path:
    sys.path.insert(0, str(POLYBENCH))
