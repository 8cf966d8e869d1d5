"""Doors that speak the formats of other systems, one file each, so that their clients work here without changes.

Such clients send one item per request, treat a refusal as a wrong answer, and retry only after some answers. So these
doors let a caller wait as long as it will wait anyway. If an item could not be judged, the door gives the answer after
which that client retries.

    door             the steps of every door
    routes           all doors, and their part of the OpenAPI document
    request_options  reads from the URL and the label how to judge
    retries          asks the engine repeatedly, for callers that wait
    test_suites      tests with one result each
    notebook         cells of Python in a box
    roll_tasks       the tasks that ROLL submits and polls for
"""
