"""What the host says of a plugin beside its code."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Options:
    """The `options` of the load frame. `scenes` of none means every scene, `owners` of none asks the backend."""

    manifest: dict[str, Any]
    config: dict[str, Any] = field(default_factory=dict)
    scenes: tuple[str, ...] | None = None
    paused_scenes: frozenset[str] = frozenset()
    owners: frozenset[str] | None = None
    blacklist: frozenset[str] = frozenset()
    other_bots: frozenset[str] = frozenset()
    source_scope: str = "turn"
    bot_id: str = ""
    timezone: str = "Asia/Shanghai"

    @classmethod
    def read(cls, options: dict[str, Any]) -> Options:
        """From the frame."""
        scenes, owners = options.get("scenes"), options.get("owners")
        return cls(
            manifest=options["manifest"],
            config=options.get("config") or {},
            scenes=None if scenes is None else tuple(scenes),
            paused_scenes=frozenset(options.get("paused_scenes") or ()),
            owners=None if owners is None else frozenset(owners),
            blacklist=frozenset(options.get("blacklist") or ()),
            other_bots=frozenset(options.get("other_bots") or ()),
            source_scope=options.get("source_scope") or "turn",
            bot_id=options.get("bot_id") or "",
            timezone=options.get("timezone") or "Asia/Shanghai",
        )

    @property
    def name(self) -> str:
        """The plugin's name."""
        return self.manifest["name"]

    def is_enabled_in(self, scene: str) -> bool:
        """Whether the plugin may be used in the scene at all."""
        return self.scenes is None or scene in self.scenes


class EveryScene(tuple[str, ...]):
    """Stands for the scenes of a plugin that is enabled everywhere: it lists none and holds all."""

    def __contains__(self, scene: object) -> bool:
        return True
