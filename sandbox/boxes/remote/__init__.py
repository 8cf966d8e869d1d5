"""Boxes on other machines: programs are sent to box hosts, which are services of this very kind with boxes of their own.

    run ──► hosts: the least busy one that is up ──► POST /v1/boxes/runs ──► its boxes
     ▲                                                                          │
     └── results one by one, as they are there (wire) ◄───────────────────────┘

A host that is lost in the middle costs nothing that was delivered: what has no result yet is done on another one, once. A
program that was under way on two lost hosts may be the reason, and is not given to a third.
"""

from sandbox.boxes.remote.remote import RemoteSandbox
from sandbox.boxes.remote.tls import BadTlsFiles, TlsFiles

__all__ = ["BadTlsFiles", "RemoteSandbox", "TlsFiles"]
