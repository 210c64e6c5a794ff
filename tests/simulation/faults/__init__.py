"""The whole crawler in a world where things go wrong, judged from the world's own records.

- `plan`: what is to go wrong, drawn from a seed number.
- `world`: one machine with its clock, its boots, its disk and its web, and what it saw. `process`:
  one life of a crawler, which can be killed, stopped or told to end at any of its steps. `loop`:
  virtual time for all of them.
- `borders`, `disk`: where a crawler touches frontier, network and disk, and where faults come in.
- `verdict`, `conduct`: what must always hold, checked from the servers' log, the frontier's file
  and the store's files.
- `story`: a seed lived through; `shrinking`: the shortest that still fails; `many`: thousands.

`python -m tests.simulation.faults --seed N` tells one seed again, `--seeds 2000` lives many.
Everything that is drawn comes from the seed: a story is the same every time, byte for byte.
"""
