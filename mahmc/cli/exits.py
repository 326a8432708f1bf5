"""The exit codes of all commands."""

DONE = 0
WRONG = 1  # a check calls a sampler wrong
REFUSED = 2  # something that was given cannot be used
UNCLEAR = 3  # a check has not enough draws to tell
FAILED = 70  # a fault of mahmc's own; sysexits.h calls this number EX_SOFTWARE
STOPPED = 130  # by Ctrl-C: 128 + SIGINT, as shells have it
CLOSED = 141  # the reader of the output has gone: 128 + SIGPIPE

IN_WORDS = """\
exit codes:
  0    done; of a check: right
  1    a check calls a sampler wrong
  2    something that was given cannot be used, or draws could not be written where they should be
  3    a check has not enough draws to tell
  70   a fault in mahmc itself
  130  stopped by Ctrl-C; what was done until then is printed and written
  141  the reader of the output has gone, as in `mahmc list | head -1`
"""
