"""`data_set.py FOLDER` judges the rows of a data set with `rewardline.ray.Scorer` on a cluster of its own."""

import json
import sys

import ray
from rewardline.ray import Scorer


def main(folder: str) -> None:
    ray.init(address="local", num_cpus=2, include_dashboard=False, log_to_driver=False)
    judged = ray.data.read_parquet(folder).map_batches(
        Scorer,
        batch_format="pyarrow",
        batch_size=500,
        compute=ray.data.ActorPoolStrategy(size=1),
        fn_constructor_kwargs={"verifier": "math", "workers": 1},
    )
    rows = judged.take_all()
    wrong = [row for row in rows if row["verdict_status"] != "ok" or row["verdict_score"] != float(row["right"])]
    print(json.dumps({"rows": len(rows), "wrong": len(wrong)}))


if __name__ == "__main__":
    main(*sys.argv[1:])
