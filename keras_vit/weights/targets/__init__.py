"""What other codes can be told of a model, so that they compute what it computes."""
