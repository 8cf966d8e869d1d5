"""Background jobs: a caller hands in a batch, it is judged while no caller waits, and its results are fetched later.

    POST /v1/jobs ──door──► store: queue ──take──► runner ──engine.stream──► results ──► store: results
    GET  /v1/jobs/{id} ─────────────────────────────────────────────────────────────────────┘

    job                what a job is to all of these: submission, claim, snapshot, and the promises of a store
    redis_store        the store that processes share: a job outlives the process that runs it (`redis_store.lua` is its inside)
    memory_store       the store of one process, without Redis
    owned_jobs         the jobs of the tenant that asks
    runner             takes jobs, and sees each through
    results            the results of one job, as they come and as they are stored
    lifespan           builds a store and a runner, and ends them

The HTTP routes are in `service/doors/routes/jobs.py`.

A process that runs a job holds a *claim* to it and refreshes the claim. If a process has been silent for too long,
another process takes over its job and judges only the items without a result. If the first process is still alive, its
writes are refused.
"""
