"""The watch on the reward itself: it says when a policy seems to game a verifier, since when, and shows the responses.

    engine ──finished batch──► stream ──► samples ──► window of a run and its judge ──► detectors ──► alarms ──► log, metrics,
                              (thread)   (a share)    (baseline, twins, phrases)       (evidence)              `/v1/watch/alarms`
                                 ├──► shadow     a second verifier judges a share of them
                                 └──► impostors  responses that are known to be bad, judged by the same recipe

It reads what the audit log reads: the finished batches that the engine hands to its observers. Scoring never waits for it and
never notices its trouble. What it keeps is bounded in bytes.
"""
