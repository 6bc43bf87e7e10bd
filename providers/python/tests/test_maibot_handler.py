"""Which function is called for a component, and how."""

import asyncio
import threading
import unittest
from concurrent.futures import ThreadPoolExecutor

from maibot_sdk import MaiBotPlugin

from toolyard_runner.maibot import handler


class Plain(MaiBotPlugin):
    def by_name(self, a, *, b=1):
        return "by_name"

    async def handle_second(self, **kwargs):
        return "handle_second"

    def third(self):
        return "third"

    not_callable = 7


class Dispatching(Plain):
    async def invoke_component(self, component_name, **kwargs):
        return component_name


class HandlerTest(unittest.TestCase):
    def name_of(self, plugin, name, **metadata):
        found = handler.find(plugin, "TOOL", name, metadata)
        return None if found is None else found.name

    def test_the_ladder_is_climbed_down_rung_by_rung(self) -> None:
        for plugin in (Plain(), Dispatching()):
            self.assertEqual(self.name_of(plugin, "second", handler_name="by_name"), "by_name")
            self.assertEqual(self.name_of(plugin, "second", handler_name="gone"), "handle_second")
            self.assertEqual(self.name_of(plugin, "third"), "third")
        self.assertEqual(self.name_of(Dispatching(), "code-analyzer", handler_name="gone"), "invoke_component")
        self.assertIsNone(self.name_of(Plain(), "code-analyzer", handler_name="gone"))

    def test_the_sdks_own_methods_are_no_handlers(self) -> None:
        for name in ("on_load", "get_components", "config", "not_callable"):
            self.assertIsNone(self.name_of(Plain(), name), name)

    def test_a_signature_says_what_a_handler_takes(self) -> None:
        strict = handler.find(Plain(), "TOOL", "x", {"handler_name": "by_name"})
        self.assertTrue(strict.takes("a") and strict.takes("b") and not strict.takes("stream_id"))
        self.assertTrue(handler.find(Plain(), "TOOL", "second", {}).takes("stream_id"))


class RunTest(unittest.IsolatedAsyncioTestCase):
    def handler(self, function):
        return handler.Handler("f", function, frozenset(), True)

    async def asyncSetUp(self) -> None:
        self.pool = ThreadPoolExecutor(1)
        self.addCleanup(self.pool.shutdown, wait=False)

    async def test_a_plain_function_that_gives_a_coroutine_back_is_awaited(self) -> None:
        async def work():
            return threading.current_thread() is threading.main_thread()

        self.assertTrue(await handler.run(self.handler(lambda: work()), {}, self.pool))

    async def test_stop_iteration_ends_the_call_and_not_the_runner(self) -> None:
        with self.assertRaises(RuntimeError):
            await asyncio.wait_for(handler.run(self.handler(lambda: next(iter([]))), {}, self.pool), 180)

    async def test_a_cancelled_thread_is_over_when_it_is(self) -> None:
        begun, is_let, ended = threading.Event(), threading.Event(), []

        def work():
            begun.set()
            is_let.wait(180)
            ended.append(True)

        first = asyncio.create_task(handler.run(self.handler(work), {}, self.pool))
        waiting = asyncio.create_task(handler.run(self.handler(work), {}, self.pool))
        while not begun.is_set():
            await asyncio.sleep(0.001)
        waiting.cancel()
        with self.assertRaises(asyncio.CancelledError):
            await waiting
        self.assertEqual(ended, [], "what has not begun never does")
        first.cancel()
        await asyncio.sleep(0)
        is_let.set()
        with self.assertRaises(asyncio.CancelledError):
            await first
        self.assertEqual(ended, [True])


if __name__ == "__main__":
    unittest.main()
