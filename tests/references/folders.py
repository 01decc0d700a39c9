"""The command line of a script that makes a folder for each of its cases."""

import argparse
import pathlib


def make_folders(make, cases, fixtures, description):
    """Makes the folders that `--only` names, or all of them, in `--out`.

    Args:
        make: function of a case's name and the folder of all fixtures.
        cases: the names.
        fixtures: where the stored fixtures are.
        description: what the script does, in one line.
    """
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--only", nargs="*", default=list(cases), choices=list(cases))
    parser.add_argument("--out", type=pathlib.Path, default=fixtures)
    arguments = parser.parse_args()
    for name in arguments.only:
        make(name, arguments.out)
        print(name)
