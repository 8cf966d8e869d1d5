"""The audit of a data set before training: it finds rows that cannot be judged, or earn what they should not.

    file ──files──► rows ──► probes ──engine──► report ──► page
                                 └──► fixes

    files      reads a file of any length line by line; Parquet in a process of its own
    rows       makes an item of each row
    audit      judges the rows, and notes what it finds in a report
    report     findings by kind with some rows of each, counts, and a histogram
    fixes      what to do about each kind, and the new value where that is mechanical
    page       the report as one HTML file
    running    audits that the service runs for callers

`rewardline audit` and the routes `/v1/audits` are built on it.
"""
