"""Background jobs: a batch is handed in, judged while nobody waits, and its results are fetched when they are wanted.

    POST /v1/jobs ──door──► store: queue ──take──► runner ──engine.stream──► record ──► store: results
    GET  /v1/jobs/{id} ────────────────────────────────────────────────────────────────────┘

    model    what a job is to all of these: submission, claim, snapshot, and the promises of a store
    redis    the store that processes share: a job outlives the one that runs it; `jobs.lua` is its inside, `link` the way
    memory   the store of one process, without Redis
    runner   takes jobs, and sees each through
    record   the results of one job, as they come and as they are stored
    door     the HTTP routes

A process that runs a job holds a *claim* to it and keeps it fresh. Whose process has been silent for too long is run by
another, which judges only what has no result yet; the first one, should it live after all, finds its writes refused.
"""
