"""Curves in the four trackers, offline, by their real packages. Prints what each of them has stored."""

import atexit
import glob
import json
import os
import sqlite3
import sys
import tempfile

stored_by: dict[str, object] = {}
atexit.register(lambda: print(json.dumps(stored_by)))  # before the trackers, so that it runs behind what they print
folder = tempfile.mkdtemp()
os.environ.update(
    WANDB_MODE="offline",
    WANDB_SILENT="true",
    MLFLOW_TRACKING_URI="file:mlflow",
    MLFLOW_ALLOW_FILE_STORE="true",
    TRACKIO_DIR=f"{folder}/trackio",
)
os.chdir(folder)

import mlflow  # noqa: E402
import trackio  # noqa: E402
import wandb  # noqa: E402
from rewardline import Client, watch  # noqa: E402
from rewardline.curves import Curves, to_mlflow, to_tensorboard, to_trackio, to_wandb  # noqa: E402
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator  # noqa: E402
from tensorboardX import SummaryWriter  # noqa: E402

NAME = "rewardline/numeric/mean_reward"
weights_and_biases = wandb.init(project="p", dir=".")
mlflow.set_experiment("p")
run = mlflow.start_run()
writer = SummaryWriter("tensorboard")
tracked = trackio.init(project="p", name="r")
sinks = [to_wandb(weights_and_biases), to_mlflow(mlflow), to_tensorboard(writer), to_trackio(tracked)]
with Client(sys.argv[1], run_id="curves") as client:
    curves = Curves(sinks, client=client, run_id="curves")
    for step, answers in ((5, "12"), (7, "22")):
        items = [{"verifier": "numeric", "prompt": "?", "response": answer, "reference": "2"} for answer in answers]
        curves.add(items, client.score(items))
        figures = curves.log(step)
    items = [
        {"recipe": "holed", "prompt": f"{at}?", "reference": str(1000 + at), "response": str(1000 + at)}
        for at in range(600)
    ]
    report = watch.AlarmReporter(client, [watch.to_wandb(weights_and_biases), watch.to_mlflow(mlflow)], run_id="curves")
    while not (alarms := report()):
        client.score(items)
weights_and_biases.finish()
mlflow.end_run()
writer.close()
tracked.finish()

(stored,) = glob.glob("wandb/offline-run-*/*.wandb")
with open(stored, "rb") as file:
    written = file.read()
events = EventAccumulator("tensorboard")
events.Reload()
(database,) = glob.glob("trackio/**/p*.db", recursive=True)
rows = sqlite3.connect(database).execute("SELECT step, metrics FROM metrics ORDER BY step").fetchall()
stored_by |= {
    "wandb": NAME.encode() in written,
    "alarms": [alarm["detector"] for alarm in alarms],
    "alerts": b"Reward alarm: impostor" in written,
    "tags": {name: text for name, text in mlflow.get_run(run.info.run_id).data.tags.items() if "alarm" in name},
    "mlflow": [(each.step, each.value) for each in mlflow.MlflowClient().get_metric_history(run.info.run_id, NAME)],
    "tensorboard": [(each.step, each.value) for each in events.Scalars(NAME)],
    "trackio": [(step, json.loads(metrics)[NAME]) for step, metrics in rows],
    "figures": dict(figures),
}
