from keras_vit.hints import did_you_mean


def test_the_closest_name_is_offered():
    assert did_you_mean("epoch", ["epochs", "batch_size", "warmup_epochs"]) == (
        " Did you mean 'epochs'?"
    )


def test_nothing_is_offered_where_nothing_is_close():
    assert did_you_mean("torch", ["epochs"]) == did_you_mean("torch", []) == ""


def test_numbers_are_names_too():
    assert did_you_mean(160, [16, 16000]) == " Did you mean '16'?"
