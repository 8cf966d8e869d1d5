"""Doors that speak the formats of other systems, one file each, so that their clients work here without changes.

Such clients send one item per request, treat a refusal as a wrong answer, and retry only after some answers. So these
doors let a caller wait as long as it will wait anyway. If an item could not be judged, the door gives the answer after
which that client retries.

    door             what every door does with a request
    routes           all doors, and their part of the OpenAPI document
    request_options  what the URL and the label say of how to judge
    retries          asks the engine for callers who wait, again and again
    test_suites      tests whose results are told one by one
    notebook         cells of Python in a box
    roll_tasks       what ROLL submits and polls for
"""
