"""Cards of text drawn as pictures. Toolyard draws none: plugins load with them and fail where they draw."""

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class CardSection:
    """A heading and what stands under it."""

    title: str
    text: str = ""


@dataclass(frozen=True)
class CardPage:
    """One picture, and its text."""

    data: bytes
    text: str


class TextCards:
    """Would draw cards with this font."""

    def __init__(self, font: Path) -> None:
        self.font = Path(font)
        if not self.font.is_file():
            raise ValueError(f"字体文件不存在：{font}")

    def render(self, title: str, subtitle: str, sections: list[CardSection], *, source: str = "") -> list[CardPage]:
        """Raises NotImplementedError."""
        raise NotImplementedError("Toolyard 不提供文字卡片绘制")
