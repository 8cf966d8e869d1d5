"""State that lasts longer than one request, in Redis or in this process.

    redis_client     makes a client of Redis from a URL
    redis_link       calls to one Redis: limited, counted, and refused if Redis is away
    listening_link   a link that hears of events, too
    memory_table     values in this process, each with its size and its time
    record_store     the contract of records with versions, which interactions, tasks and sessions are
    redis_records, memory_records   that contract over a link, and over a table
    records          chooses one of the two, and shows a tenant its own records

Background jobs are a queue and no records. Their stores in `service/jobs` stand on a listening link and on a table.
"""
