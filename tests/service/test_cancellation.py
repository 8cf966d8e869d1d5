import asyncio

from service.cancellation import cancel


async def test_tasks_have_ended_when_it_returns_however_they_end() -> None:
    ended: list[str] = []

    async def run(name: str) -> None:
        try:
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(0)
            ended.append(name)

    tasks = [asyncio.create_task(run(name)) for name in "ab"]
    await asyncio.sleep(0)
    await cancel(*tasks, None)
    assert ended == ["a", "b"]
    assert all(task.cancelled() for task in tasks)
    await cancel()
    await cancel(None)
