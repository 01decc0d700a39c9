"""Models of this and of other packages, each timed in a process and an environment of its own."""
