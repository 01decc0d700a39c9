import os
import signal

import pytest

from keras_vit.training.preemption import Preempted, notice


def test_a_signal_gives_notice_and_does_what_it_did_before_after_the_block():
    before = signal.getsignal(signal.SIGUSR1)
    with notice(signal.SIGUSR1) as given:
        assert not given.given
        os.kill(os.getpid(), signal.SIGUSR1)
        assert given.given
    assert signal.getsignal(signal.SIGUSR1) is before


def test_preempted_ends_the_process_with_42():
    with pytest.raises(SystemExit) as ended:
        raise Preempted
    assert ended.value.code == 42
