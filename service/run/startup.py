"""The order of a start. The core comes first, and the doors are loaded after it: meanwhile the processes of workers and
boxes start beside this one.
"""

import importlib
from collections.abc import Callable

from service.recipes.files import BadRecipes
from service.run.cannot_start import CannotStart
from service.run.core import begin_core
from service.run.sockets import Addresses, Sockets
from service.settings import Settings


async def serve(settings: Settings, sockets: Sockets, on_open: Callable[[Addresses], None]) -> None:
    """Serve until a signal to stop. `on_open` is called when the ports answer.

    Raises:
        CannotStart: the settings demand something that cannot be had.
    """
    try:
        async with begin_core(settings) as core:
            await importlib.import_module("service.run.server").serve(settings, core, sockets, on_open)
    except BadRecipes as error:
        raise CannotStart(str(error)) from error
