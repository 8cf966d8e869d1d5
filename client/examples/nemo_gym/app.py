"""A resources server for NeMo-Gym: put this folder below its `resources_servers`."""

from rewardline.nemo_gym import VerifierResourcesServer

if __name__ == "__main__":
    VerifierResourcesServer.run_webserver()
