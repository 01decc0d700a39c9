"""Several workers, each a process.

python training/launch/workers.py 2 RECIPE DATA --out RUN       runs two on this machine
python training/launch/workers.py a,b RECIPE DATA --out RUN     prints what the hosts a and b run

DATA and RUN are on disks that all workers see. Started again, they go on where they were stopped.
"""

import sys

from keras_vit.training.launching import commands, run_here

if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    where, *arguments = sys.argv[1:]
    command = ["keras-vit", "train", *arguments, "--strategy", "workers", "--resume-if-any"]
    if where.isdigit():
        sys.exit(run_here(int(where), command))
    print("\n".join(commands(where, command)))
