"""The names that columns have in files of data sets and trainers."""

REFERENCES = ("reference", "ground_truth", "gold", "answer", "solution", "target", "gts", "expected_answer", "label")
"""`target` is lm-eval's and Inspect's, `gts` verl's, `label` slime's and OpenRLHF's."""
LABELS = ("expected", "label", "is_correct")
"""Whether a response is right. Of these `label` is a reference where it is neither true nor false."""
