"""Records one result by its command: `make record ROW=fashion_mnist`. Rows can be resumed."""

import sys
from pathlib import Path

from keras_vit.cli.recording import ROWS, record_row

RESULTS = Path(__file__).parent / "results"

if __name__ == "__main__":
    if len(sys.argv) != 2 or sys.argv[1] not in ROWS:
        sys.exit(f"Name a row, one of: {', '.join(ROWS)}")
    print(record_row(sys.argv[1], RESULTS))
