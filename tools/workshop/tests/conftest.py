"""Let programs hear Ctrl-C, wherever the tests are run."""

import signal

# What a script starts in the background is deaf to it, and so would be all that tests
# start and interrupt.
signal.signal(signal.SIGINT, signal.default_int_handler)
