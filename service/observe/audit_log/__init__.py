"""The audit log says which answer got which reward, and why. It is off until a folder is set.

    engine ──observe──► queue ──► writer ──► live file ──rotation──► closed file ──► packing: gzip, zstd, Parquet;
            (at once)  (bounded)  (thread)   (JSON lines)                            (thread)  the oldest are deleted
                                                 └───────────── reader ◄─────────────────┘   ◄── `rewardline log`

Scoring never waits for the audit log and never notices its trouble: records that do not fit in the queue or on the disk
are dropped and counted. Written records survive the process. A crash leaves at most half a line, which the reader
skips.
"""
