"""Tests which are programs themselves: the tester, the judged program, and what they say to each other."""
