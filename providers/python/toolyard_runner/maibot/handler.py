"""Finding the handler of a component, and running it."""

from __future__ import annotations

import asyncio
import contextvars
import functools
import inspect
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from toolyard_runner.maibot import loader

_KEYWORD_KINDS = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)


@dataclass(frozen=True)
class Handler:
    """What is called for a component."""

    name: str
    function: Callable[..., Any]
    accepts: frozenset[str]
    any: bool
    # Those of `accepts` that have no default.
    needs: frozenset[str] = frozenset()

    def takes(self, name: str) -> bool:
        return self.any or name in self.accepts

    def summary(self) -> dict[str, Any]:
        """For the document of the plugin."""
        return {"name": self.name, "accepts": sorted(self.accepts), "any": self.any, "needs": sorted(self.needs)}


def find(plugin: Any, kind: str, name: str, metadata: Mapping[str, Any]) -> Handler | None:
    """The attribute `handler_name`, else `handle_<name>`, else `<name>`, else `invoke_component`.

    Plugins whose tools come and go name a handler that does not exist, to be called by the last of these.
    """
    handler_name = metadata.get("handler_name")
    if not loader.is_legacy(plugin):
        for attribute in (handler_name, f"handle_{name}", name):
            function = _method(plugin, attribute)
            if function is not None:
                return _handler(str(attribute), function)
    dispatcher = getattr(plugin, "invoke_component", None)
    if not callable(dispatcher):
        return None
    # The SDK keeps the handlers of dynamic APIs under the name of the handler.
    is_dynamic_api = kind == "API" and bool(metadata.get("dynamic")) and bool(handler_name)
    bound = functools.partial(dispatcher, str(handler_name) if is_dynamic_api else name)
    if not is_dynamic_api and _is_inherited(plugin, "invoke_component"):
        return None
    return Handler("invoke_component", bound, frozenset(), True)


async def run(handler: Handler, arguments: dict[str, Any], pool: ThreadPoolExecutor) -> Any:
    """Coroutine functions run on the loop, plain ones in a thread."""
    if _is_async(handler.function):
        return await handler.function(**arguments)
    result = await _in_thread(functools.partial(handler.function, **arguments), pool)
    return await result if inspect.isawaitable(result) else result


async def _in_thread(function: Callable[[], Any], pool: ThreadPoolExecutor) -> Any:
    """A thread cannot be stopped: a cancelled call is over when its thread is, so that limits and reports stay true."""
    future = pool.submit(contextvars.copy_context().run, _without_stop_iteration, function)
    waiting = asyncio.wrap_future(future)
    is_cancelled = False
    while not waiting.done():
        try:
            await asyncio.wait({waiting})
        except asyncio.CancelledError:
            is_cancelled = True
            if future.cancel():
                break
    if is_cancelled:
        if waiting.done() and not waiting.cancelled():
            waiting.exception()
        raise asyncio.CancelledError
    return waiting.result()


def _without_stop_iteration(function: Callable[[], Any]) -> Any:
    try:
        return function()
    except StopIteration as error:
        # A future cannot hold one.
        raise RuntimeError("the handler raised StopIteration") from error


def _method(plugin: Any, attribute: Any) -> Callable[..., Any] | None:
    """A callable of the plugin's own; the SDK's lifecycle is no handler, whatever a component is called."""
    if not isinstance(attribute, str) or not attribute or _is_inherited(plugin, attribute):
        return None
    try:
        value = getattr(plugin, attribute, None)
    except Exception:  # a property of the plugin
        return None
    return value if callable(value) and attribute not in loader.LIFECYCLE else None


def _is_inherited(plugin: Any, attribute: str) -> bool:
    from maibot_sdk import MaiBotPlugin

    own = inspect.getattr_static(plugin, attribute, None)
    return own is not None and own is inspect.getattr_static(MaiBotPlugin, attribute, None)


def _handler(name: str, function: Callable[..., Any]) -> Handler:
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return Handler(name, function, frozenset(), True)
    named = [parameter for parameter in parameters if parameter.kind in _KEYWORD_KINDS]
    accepts = frozenset(parameter.name for parameter in named)
    needs = frozenset(parameter.name for parameter in named if parameter.default is inspect.Parameter.empty)
    takes_any = any(parameter.kind is inspect.Parameter.VAR_KEYWORD for parameter in parameters)
    return Handler(name, function, accepts, takes_any, needs)


def _is_async(function: Callable[..., Any]) -> bool:
    while isinstance(function, functools.partial):
        function = function.func
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(type(function).__call__)
