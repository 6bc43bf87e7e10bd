"""What the tools of this plugin return, by name."""

import datetime

PICTURE = "iVBORw0KGgo="


class Odd:
    """Nothing that JSON knows."""


REPLIES = {
    "text": "晴",
    "none": None,
    "number": 7,
    "list": [1, "a", None, True],
    "empty_list": [],
    "pair": (True, "已禁言"),
    "failed_pair": (False, "没有权限"),
    "int_pair": (1, "a"),
    "message": {"success": True, "message": "已回复"},
    "empty_content": {"content": "", "message": "not this"},
    "none_content": {"content": None, "message": "not this", "n": 1},
    "word_success": {"success": "false", "content": "done"},
    "zero_success": {"success": 0, "message": "no"},
    "error": {"success": False, "error": "x"},
    "results": {"results": [{"标题": "晴"}], "big": 12345678901234567890123},
    "stop": {"content": "bye", "stop_after_execution": True},
    "odd_stop": {"content": "bye", "stop_after_execution": "true"},
    "failed_stop": {"success": False, "error": "e", "stop_after_execution": "true"},
    "picture": {
        "content": "画好了",
        "content_items": [
            {"type": "image", "data": PICTURE, "mime_type": "image/png", "name": "a.png"},
            "no item",
        ],
    },
    "date": {"content": "today", "at": datetime.date(2026, 10, 1)},
    "nan": {"n": float("nan")},
    "odd": {"odd": Odd()},
}
