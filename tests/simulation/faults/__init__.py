"""The whole crawler in a world where things go wrong, judged from the world's own records.

- `plan`: what is to go wrong, drawn from a seed number; `world`: one machine with its clock, its
  boots, its disk and its web, and what it saw; `process`: one life of a crawler, which can be
  killed, paused or told to stop at any of its steps.
- `borders`, `disk`: where the crawler touches frontier, network and disk, and where faults come in.
- `verdict`: what must always hold, checked from the server's log, the frontier's file and the
  store's files. `story`: a seed lived through; `shrinking`: its shortest story that still fails.

`python -m tests.simulation.faults --seed N` tells one seed again, `--seeds 2000` lives many.
Everything that is drawn comes from the seed: a story is the same every time, byte for byte.
"""
