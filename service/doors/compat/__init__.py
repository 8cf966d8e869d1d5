"""Doors that speak other systems' formats, one file each, so that their clients can be pointed here as they are.

Such clients send one item per request, take a refusal for a wrong answer, and try again only after some answers. So these
doors have a caller wait as long as it will wait anyway, and what could not be judged is answered in the way which that
client tries again after.

    door             what every door does with a request
    routes           all doors, and their part of the OpenAPI document
    request_options  what the URL and the label say of how to judge
    retries          asks the engine for callers who wait, again and again
    test_suites      tests whose results are told one by one
    notebook         cells of Python in a box
    roll_tasks       what ROLL submits and polls for
"""
