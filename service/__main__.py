"""The console script `rewardline`."""

from service.cli import app


def main() -> None:
    app()


if __name__ == "__main__":
    main()
