"""Tests that are programs themselves: the tester, the judged program, and the messages between them."""
