"""The audit log says which answer got which reward, and why. It is written where a folder is set, and by `rewardline
serve` for one person.

    engine ──observe──► queue ──► writer ──► live file ──rotation──► closed file ──► packing: gzip, zstd, Parquet;
            (at once)  (bounded)  (thread)   (JSON lines)                            (thread)  the oldest are deleted
                                                 ├───────────── reader ◄─────────────────┤   ◄── `rewardline log`
                                                 └── desk ► search ► tables (DuckDB) ◄───┘   ◄── `/v1/log`, the pages

Scoring never waits for the audit log and never notices its trouble: records that do not fit in the queue or on the disk
are dropped and counted. Written records survive the process. A crash leaves at most half a line, which the reader
skips.

`runs` asks for groups, steps and two runs; `condition` reads conditions in SQL; `corrections` keeps corrected verdicts.

`reader` follows a log as it grows and reads a damaged file as far as it goes, which DuckDB cannot. `search` counts,
orders and groups, without Python's lock.
"""
