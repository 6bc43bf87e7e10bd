"""The plugin under its own tests, as its author would write them."""

import asyncio
import json
import sqlite3
import tempfile
import unittest
from pathlib import Path

from len_bot.plugin import Image, Text
from len_bot.plugin_testing import PluginTest

PACKAGE = Path(__file__).parents[1]
OWNER, GUEST, BARRED = "onebot:70001", "onebot:70002", "onebot:70003"
HERE, THERE = "onebot:group:80001", "onebot:group:80002"


def bot(**more):
    """The plugin in two scenes."""
    return PluginTest(PACKAGE, scenes=(HERE, THERE), owners=(OWNER,), **more)


class Preview(unittest.IsolatedAsyncioTestCase):
    """What the model sees."""

    async def test_every_tool_is_shown_with_its_texts_and_reasons(self):
        async with bot() as test:
            tools = {tool["name"]: tool for tool in test.preview_tools()}
        counted = tools["recent_count"]
        self.assertEqual(counted["summary"], "查询本群最近几小时的消息数")
        self.assertEqual(counted["source"], "插件 group_notes")
        self.assertIn("content_lookup", counted["instructions"])
        self.assertEqual(counted["scenes"], [HERE, THERE])
        self.assertEqual(counted["reasons"], [])
        self.assertEqual(tools["account_read"]["reasons"], ["账号读取未开启"])
        self.assertEqual(tools["content_lookup"]["summary"], "搜索或读取内容。")

    async def test_field_texts_examples_ranges_and_defaults_reach_the_model(self):
        async with bot() as test:
            tools = {tool["name"]: tool["parameters"] for tool in test.preview_tools()}
        hours = tools["recent_count"]["properties"]["hours"]
        expected = {
            "default": 24,
            "description": "向前回溯的小时数",
            "examples": [12],
            "maximum": 72,
            "minimum": 1,
            "type": "integer",
        }
        self.assertEqual(hours, expected)
        self.assertEqual(tools["recent_count"]["additionalProperties"], False)

    async def test_only_generated_titles_go_and_unions_stay(self):
        async with bot() as test:
            tools = {tool["name"]: tool["parameters"] for tool in test.preview_tools()}
        self.assertEqual(tools["titled"]["properties"]["title"], {"type": "string"})
        request = tools["content_lookup"]["properties"]["request"]
        self.assertEqual(request["discriminator"]["propertyName"], "action")
        self.assertEqual(len(request["oneOf"]), 2)
        self.assertNotIn('"title":', json.dumps(tools["content_lookup"]))

    async def test_a_source_is_the_hosts_parameter(self):
        async with bot() as test:
            tools = {tool["name"]: tool for tool in test.preview_tools()}
        parameters = tools["owner_action"]["parameters"]
        self.assertIn("source_message_id", parameters["required"])
        self.assertTrue(parameters["properties"]["source_message_id"]["description"])
        self.assertNotIn("source_message_id", tools["inspect"]["parameters"]["properties"])


class Calls(unittest.IsolatedAsyncioTestCase):
    """What calls come to."""

    async def refused(self, test, error, text, tool, arguments, **more):
        with self.assertRaisesRegex(error, text):
            await test.tool(tool, arguments, **more)

    async def test_arguments_are_strict_at_every_level(self):
        async with bot() as test:
            for arguments in ({"hours": "3"}, {"hours": 3.0}, {"hours": 0}, {"hours": 73}, {"hours": 3, "x": 1}):
                await self.refused(test, ValueError, "hours|x", "recent_count", arguments)
            for request in (
                {"action": "search"},
                {"action": "search", "item_id": "1"},
                {"action": "read", "item_id": "1", "query": "x"},
                {"action": "delete", "item_id": "1"},
                {"query": "x"},
            ):
                await self.refused(test, ValueError, "request", "content_lookup", {"request": request})
            found = await test.tool("content_lookup", {"request": {"action": "read", "item_id": "1"}})
            self.assertEqual(json.loads(found), {"action": "read", "item_id": "1"})

    async def test_text_is_verbatim_and_everything_else_strict_json(self):
        async with bot() as test:
            expected = {"text": "原文 {}", "none": "null", "number": "3", "false": "false", "list": '[1, "二"]'}
            for kind, text in expected.items():
                self.assertEqual(await test.tool("give_back", {"kind": kind}), text)
            given = json.loads(await test.tool("give_back", {"kind": "dict"}))
            self.assertEqual(given, {"a": None, "b": [True, {"c": 1.5}]})
            for kind, place in (("nan", "/x/0"), ("tuple", "/ids"), ("keys", "键 1"), ("object", "object")):
                await self.refused(test, ValueError, place, "give_back", {"kind": kind})

    async def test_messages_are_read_page_by_page_in_their_own_scene(self):
        async with bot(now=lambda: 1_000_000.0) as test:
            for index in range(5):
                test.add_message("x", timestamp=1_000_000.0 - 60 - index)
            test.add_message("old", timestamp=1_000_000.0 - 80 * 3600)
            test.add_message("elsewhere", scene=THERE, timestamp=1_000_000.0 - 60)
            counted = json.loads(await test.tool("recent_count", {"hours": 1}))
            self.assertEqual(counted, {"label": "notes", "hours": 1, "count": 5})

    async def test_a_source_must_be_a_real_request_of_this_scene(self):
        async with bot() as test:
            good = test.add_message("请做", sender=GUEST)
            elsewhere = test.add_message("请做", scene=THERE, sender=GUEST)
            own = test.add_message("我说", sender=test.host.messages[0].bot_id)
            recalled = test.add_message("撤回", sender=GUEST)
            recalled.recalled = True
            unsent = test.add_message("没发出", sender=GUEST)
            unsent.send_status = "failed"
            answer = json.loads(await test.tool("who_asks", {"source_message_id": good.id}))
            self.assertEqual(answer, {"id": good.id, "uid": GUEST, "text": "请做"})
            for ident in (elsewhere.id, own.id, recalled.id, unsent.id, GUEST, "nothing"):
                text = f"source_message_id 不是当前场景的真实请求消息：{ident}"
                await self.refused(test, ValueError, text, "who_asks", {"source_message_id": ident})
            await self.refused(test, ValueError, "source_message_id", "who_asks", {})
            more = {"source_message_id": good.id, "requester": OWNER}
            await self.refused(test, ValueError, "requester", "who_asks", more)

    async def test_owners_are_asked_for_when_the_tool_runs(self):
        async with bot() as test:
            asked = test.add_message("请做", sender=OWNER)
            answer = json.loads(await test.tool("owner_action", {"source_message_id": asked.id, "note": "x"}))
            self.assertEqual(answer, {"requester": OWNER, "note": "x"})
            asked = test.add_message("请做", sender=GUEST)
            await self.refused(test, PermissionError, "主人", "owner_action", {"source_message_id": asked.id})

    async def test_scenes_and_configuration_rule_tools_out(self):
        async with bot(config={"quiet_scenes": [THERE], "account_read_enabled": True}) as test:
            self.assertEqual(await test.tool("account_read", {}), "账号 https://example.invalid/api")
            await self.refused(test, ValueError, "这个群不统计", "recent_count", {}, scene=THERE)
            text = "插件 group_notes 未在场景 onebot:group:9 启用"
            await self.refused(test, PermissionError, text, "inspect", {}, scene="onebot:group:9")

    async def test_no_spelling_of_a_secret_leaves_in_a_result(self):
        secret = "p@ss \"w\\ö' d"
        rooms = [{"id": 1, "key": "room-key"}]
        async with bot(config={"token": secret, "rooms": rooms}) as test:
            leaked = json.loads(await test.tool("leak", {"how": "value"}))
            self.assertEqual({form.strip("'\"") for form in leaked["forms"]}, {"[redacted]"})
            self.assertEqual(await test.tool("leak", {"how": "room"}), "[redacted]")

    async def test_sends_are_simulated_and_say_so(self):
        async with bot() as test:
            sent = json.loads(await test.tool("say", {"text": "你好"}))
            self.assertEqual((sent["status"], sent["message_ids"]), ("simulated", []))
            self.assertEqual((test.deliveries[-1].text, test.deliveries[-1].scene), ("你好", HERE))
            self.assertEqual(test.deliveries[-1].parts, (Text("你好"),))
            await self.refused(test, ValueError, "不能为空", "say", {"text": " "})
            assert test.runtime.context is not None
            await test.runtime.context.send_image(THERE, b"\x89PNG", "图")
            self.assertEqual(test.deliveries[-1].parts, (Image(b"\x89PNG", "图"),))

    async def test_the_plugins_own_context_answers_as_plugins_expect(self):
        async with bot(config={"token": "p@ss-word"}) as test:
            context = test.runtime.context
            assert context is not None
            await context.set_kv("note", 1)
            self.assertEqual([await context.delete_kv("note"), await context.delete_kv("note")], [True, False])
            self.assertEqual(context.redact("it is p@ss-word"), "it is [redacted]")
            context.require_owner(HERE, OWNER)
            with self.assertRaises(PermissionError):
                context.require_owner(HERE, f"{OWNER}2")
            await context.send(HERE, "好", reply_to="m1")
            self.assertEqual(test.deliveries[-1].text, "好")
            self.assertFalse(context.cron("daily", "0 8 * * *", print).done())

    async def test_work_in_the_background_reports_its_failure(self):
        async with bot() as test:
            started = json.loads(await test.tool("card", {}))
            self.assertEqual(started, {"status": "started", "delivery": "plugin"})
            await test.wait_tasks("card")
            self.assertEqual(test.deliveries, [])
            self.assertEqual(test.state()["plugins"][0]["errors"][-1]["where"], "card")
        async with bot(models=lambda plugin, scene, prompt, role, system: f"{prompt}。") as test:
            await test.tool("card", {})
            await test.wait_tasks("card")
            self.assertEqual(test.deliveries[-1].text, "一句话。")

    async def test_commands_and_rules_run_in_tests(self):
        async with bot() as test:
            await test.tool("note", {"text": "记住"})
            self.assertTrue(await test.message("/笔记 ！"))
            self.assertEqual(test.deliveries[-1].text, "记住！")
            self.assertTrue(await test.message("清空笔记"))
            self.assertFalse(await test.message("别的"))
            self.assertEqual(await test.tool("note", {}), "null")


class Life(unittest.IsolatedAsyncioTestCase):
    """Start, stop and data."""

    async def pause(self, test):
        """A call that is in its handler."""
        paused, mark = asyncio.create_task(test.tool("pause", {"seconds": 3600})), test.runtime.data_dir / "pausing"
        while not mark.exists():
            await asyncio.sleep(0.001)
        mark.unlink()
        return paused

    async def test_a_stop_interrupts_calls_and_a_cancellation_is_told_apart(self):
        async with bot() as test:
            paused = await self.pause(test)
            paused.cancel()
            with self.assertRaises(asyncio.CancelledError):
                await paused
            paused = await self.pause(test)
            await test.runtime.stop()
            with self.assertRaisesRegex(RuntimeError, "插件 group_notes 已停止或重载，本次工具调用中断"):
                await paused
            self.assertEqual((test.runtime.data_dir / "stopped").read_text(encoding="utf-8"), "yes")

    async def test_what_a_handler_does_to_itself_costs_only_its_call(self):
        async with bot() as test:
            for how, text in (("exit", "SystemExit"), ("cancel", "取消了自己"), ("other", "other")):
                with self.assertRaisesRegex((RuntimeError, LookupError), text):
                    await test.tool("fail", {"how": how})
            self.assertEqual(await test.tool("note", {}), "null")

    async def test_older_data_are_brought_up_to_date_before_the_start(self):
        with tempfile.TemporaryDirectory() as folder:
            database = sqlite3.connect(Path(folder) / "kv.sqlite3")
            database.execute("CREATE TABLE kv (key TEXT PRIMARY KEY, value TEXT NOT NULL)")
            database.execute("INSERT INTO kv VALUES ('note', '\"before\"')")
            database.commit()
            database.close()
            async with bot(data=folder, data_version=1) as test:
                self.assertEqual(await test.tool("note", {}), "before, from 1")
            with self.assertRaisesRegex(RuntimeError, "高于"):
                async with bot(data=folder, data_version=3):
                    pass

    async def test_configurations_that_do_not_fit_are_named_by_key_and_never_by_value(self):
        for config, text in (
            ({"limit": 0}, "配置 limit 不能小于 1"),
            ({"limit": True}, "配置 limit 必须是整数"),
            ({"ratio": float("nan")}, "配置 ratio 必须是有限数"),
            ({"style": "wide"}, "配置 style 必须是其中之一：short、long"),
            ({"token": 5}, "配置 token 必须是文本"),
            ({"home": "80001"}, "配置 home 必须是场景"),
            ({"quiet_scenes": ["x"]}, "配置 quiet_scenes 必须是场景列表"),
            ({"endpoint": "example"}, "配置 endpoint 必须是完整地址"),
            ({"tags": "a"}, "配置 tags 必须是文本列表"),
            ({"rooms": [{"key": "x"}]}, r"缺少必填配置：rooms\[0\]\.id"),
            ({"rooms": [{"id": 1, "x": 2}]}, r"未知配置：rooms\[0\]\.x"),
            ({"other": 1}, "未知配置：other"),
        ):
            with self.assertRaisesRegex(ValueError, text):
                bot(config=config)


if __name__ == "__main__":
    unittest.main()
