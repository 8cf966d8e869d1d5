"""The audit log: which answer got which reward, and why. Off until a folder is set.

    engine ──observe──► queue ──► writer ──► live file ──rotation──► closed file ──► packing: gzip, zstd, Parquet;
            (at once)  (bounded)  (thread)   (JSON lines)                            (thread)  the oldest are deleted
                                                 └───────────── reader ◄─────────────────┘   ◄── `rewardline log`

Scoring never waits for it and never hears of its trouble: what does not fit in the queue, or on the disk, is dropped and
counted. What is on the disk survives the process; a crash leaves at most half a line, which the reader passes over.
"""
