"""What tests report: how the command is made to report, and the state of each test in what it wrote.

    format      written by                                        read from
    pytest      our plugin in the run of pytest                   its own report, each line signed with a key
    unittest    our plugin in each Python of the command          the same, or the output where no Python runs it
    junit       the command, as JUnit XML at `path`, or in files   the XML
    tap, go, cargo, nextest                                       the output
    swebench                                                      the output, by a parser of the package swebench
    program                                                       the output, by a program of the task in a box

A test that reports twice, and not the same, has failed. What is not in a report has not passed.
"""

from verifiers.repository.reports.formats import FORMATS, check, plan, report_of
from verifiers.repository.reports.state import Report, ReportPlan, State, UnreadableReport

__all__ = ["FORMATS", "Report", "ReportPlan", "State", "UnreadableReport", "check", "plan", "report_of"]
