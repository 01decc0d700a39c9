"""Names that stand for one of several things."""


def check_choice(argument, value, choices):
    """Checks that a value is one of those there are.

    Args:
        argument: the argument's name, for the error.
        value: a name.
        choices: the names, or a dict of them.

    Raises:
        ValueError: if it is none of them.
    """
    if value not in choices:
        raise ValueError(f"`{argument}` must be one of {sorted(choices)}. Received: {value!r}.")
