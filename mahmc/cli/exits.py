"""The exit codes of all commands."""

DONE = 0
WRONG = 1  # the verdict of a check is wrong
REFUSED = 2  # an argument cannot be used
UNCLEAR = 3  # a check does not have enough draws to tell
FAILED = 70  # a fault of mahmc's own; sysexits.h calls this number EX_SOFTWARE
STOPPED = 130  # by Ctrl-C: 128 + SIGINT, as shells have it
CLOSED = 141  # the program that reads the output has ended: 128 + SIGPIPE

IN_WORDS = """\
exit codes:
  0    done; the verdict of a check is right
  1    the verdict of a check is wrong
  2    an argument cannot be used, or the draws cannot be written to the file of --out
  3    a check does not have enough draws to tell
  70   a fault in mahmc itself
  130  stopped by Ctrl-C; the results until then are printed and written
  141  the program that reads the output has ended, as in `mahmc list | head -1`
"""
