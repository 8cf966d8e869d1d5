"""Closing while clients connect leaves no connection open, however far each has come."""

import asyncio
import gc
import warnings

import pytest

from tests.listening import Listener


@pytest.mark.load(beyond=2)
@pytest.mark.parametrize("turns", range(8))
def test_what_is_being_accepted_is_closed_too(turns: int) -> None:
    async def echo(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while data := await reader.read(100):
            writer.write(data)

    async def closed_meanwhile() -> None:
        listener = Listener(echo)
        port = await listener.open()
        connecting = [asyncio.create_task(asyncio.open_connection("127.0.0.1", port)) for _ in range(30)]
        for _ in range(turns):
            await asyncio.sleep(0)
        await listener.close()
        for reader, writer in await asyncio.gather(*connecting):
            with pytest.raises((ConnectionResetError, asyncio.IncompleteReadError)):
                await reader.readexactly(1)
            writer.close()

    gc.collect()
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        asyncio.run(closed_meanwhile())
        gc.collect()
    assert [warning.message for warning in seen] == []
