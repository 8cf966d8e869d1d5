"""Background jobs: a batch is handed in, judged while nobody waits, and its results are fetched when they are wanted.

    POST /v1/jobs ──door──► store: queue ──take──► runner ──engine.stream──► results ──► store: results
    GET  /v1/jobs/{id} ─────────────────────────────────────────────────────────────────────┘

    job                what a job is to all of these: submission, claim, snapshot, and the promises of a store
    redis_store        the store that processes share: a job outlives the process that runs it (`redis_store.lua` is its inside)
    redis_connections  how that store reaches Redis
    memory_store       the store of one process, without Redis
    runner             takes jobs, and sees each through
    results            the results of one job, as they come and as they are stored
    lifespan           builds a store and a runner, and ends them

The HTTP routes are in `service/doors/routes/jobs.py`.

A process that runs a job holds a *claim* to it and keeps it fresh. Whose process has been silent for too long is run by
another, which judges only what has no result yet; the first one, should it live after all, finds its writes refused.
"""
