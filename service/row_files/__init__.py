"""Files of rows in the forms that people have: JSON lines, JSON arrays, CSV, Parquet, saved data sets, packed or not."""
