"""The command line, `keras-vit`: one command a file. Keras is imported inside the commands only,
so that `--help` need not wait for it."""
