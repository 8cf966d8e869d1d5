"""Boxes on other machines: programs are sent to box hosts, which are services of this kind with boxes of their own.

    run ──► hosts: the least busy one that is up ──► POST /v1/boxes/runs ──► its boxes
     ▲                                                                          │
     └── results one by one, as soon as they exist (wire) ◄───────────────────┘

When a host is lost in the middle, delivered results stay. The runs without a result are done once more, on another
host. A program that was under way on two lost hosts may be the cause, so it is not sent to a third.
"""

from sandbox.boxes.remote.tls import BadTlsFiles, TlsFiles

__all__ = ["BadTlsFiles", "TlsFiles"]
