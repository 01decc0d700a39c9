"""Optional packages: imported where they are used, with an error that names the extra."""

from importlib import import_module


def require(module, extra):
    """Imports an optional package.

    Args:
        module: the module's full name, such as `"ai_edge_litert.interpreter"`.
        extra: the extra of `keras-vit-kit` that installs it, such as `"edge"`.

    Returns:
        The module.

    Raises:
        ImportError: when the package is not installed; the message names the extra.

    Example:

    >>> require("json", extra="dev").dumps([1, 2])
    '[1, 2]'
    """
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        # error.name may be a package that `module` itself needs: the extra brings that, too.
        raise ImportError(
            f"`{module}` cannot be imported: `{error.name}` is not installed. "
            f"Run: pip install 'keras-vit-kit[{extra}]'"
        ) from error
