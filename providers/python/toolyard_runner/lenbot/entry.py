"""A tool as it is loaded: its declaration, and the model that checks its arguments."""

from __future__ import annotations

import inspect
import json
import types
import typing
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError, create_model

from ..dialect import LoadError
from . import schema as schemas
from .declaration import Mark

_MAX_PROBLEMS = 10


class InvalidArguments(ValueError):
    """The arguments do not fit the tool's parameters."""


@dataclass(frozen=True)
class ToolEntry:
    """One tool of a plugin."""

    mark: Mark
    method: str
    schema: dict[str, Any]
    model: type[BaseModel]
    fields: dict[str, str]

    def arguments(self, given: dict[str, Any]) -> dict[str, Any]:
        """Checks arguments strictly and gives them by parameter name. Raises InvalidArguments."""
        try:
            checked = self.model.model_validate_json(json.dumps(given))
        except ValidationError as error:
            raise InvalidArguments(_problems(error)) from None
        return {name: getattr(checked, field) for field, name in self.fields.items()}

    def describe(self) -> dict[str, Any]:
        """The tool as it is told to the host."""
        return {
            "name": self.mark.name,
            "description": self.mark.description,
            "summary": self.mark.summary,
            "parameters": self.schema,
            "needs_source": self.mark.needs_source,
        }


def make(method: str, mark: Mark, handler: Any) -> ToolEntry:
    """Reads the handler's signature. Raises LoadError."""
    parameters = _parameters(mark.name, handler)
    hints = _hints(mark.name, handler, parameters)
    # Fields get names of ours, so that no parameter can collide with what pydantic's models have themselves.
    fields = {f"p{index}": parameter.name for index, parameter in enumerate(parameters)}
    config = ConfigDict(strict=True, extra="forbid", alias_generator=fields.__getitem__, arbitrary_types_allowed=False)
    declared = {
        field: (hints[parameter.name], ... if parameter.default is parameter.empty else parameter.default)
        for field, parameter in zip(fields, parameters, strict=True)
    }
    try:
        model = create_model(mark.name, __config__=config, **typing.cast(Any, declared))
        schema = schemas.without_titles(model.model_json_schema())
    except Exception as error:
        raise LoadError("tools", f"工具 {mark.name} 的参数不能生成 schema：{type(error).__name__}: {error}") from error
    schema.setdefault("properties", {})
    return ToolEntry(mark, method, schema, model, fields)


def _parameters(tool: str, handler: Any) -> list[inspect.Parameter]:
    listed = list(inspect.signature(handler).parameters.values())
    if len(listed) < 2:
        raise LoadError("tools", f"工具 {tool} 的处理函数需要 self 和 ctx 两个参数")
    for parameter in listed[2:]:
        if parameter.kind not in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY):
            raise LoadError("tools", f"工具 {tool} 的参数 {parameter.name} 必须是普通具名参数")
        if parameter.name == schemas.SOURCE_PARAMETER:
            raise LoadError("tools", f"工具 {tool} 不能声明 {parameter.name}，这个参数由宿主提供")
        if parameter.annotation is parameter.empty:
            raise LoadError("tools", f"工具 {tool} 的参数 {parameter.name} 缺少类型注解")
    return listed[2:]


def _hints(tool: str, handler: Any, parameters: list[inspect.Parameter]) -> dict[str, Any]:
    # Only the parameters count: what `ctx` and the result are called need not be known at run time.
    wanted = types.SimpleNamespace(__annotations__={entry.name: entry.annotation for entry in parameters})
    try:
        return typing.get_type_hints(wanted, handler.__globals__, include_extras=True)
    except Exception as error:
        raise LoadError("tools", f"工具 {tool} 的类型注解不能解析：{type(error).__name__}: {error}") from error


def _problems(error: ValidationError) -> str:
    listed = error.errors(include_url=False, include_context=False, include_input=False)
    lines = [f"{'.'.join(str(step) for step in entry['loc']) or '参数'}: {entry['msg']}" for entry in listed]
    more = len(lines) - _MAX_PROBLEMS
    return "; ".join(lines[:_MAX_PROBLEMS]) + (f"; 另有 {more} 处" if more > 0 else "")
