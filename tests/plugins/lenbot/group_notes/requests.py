"""What can be asked for."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field


class Lookup(BaseModel):
    """Strict in every branch."""

    model_config = ConfigDict(strict=True, extra="forbid")


class Search(Lookup):
    """By words."""

    action: Literal["search"]
    query: Annotated[str, Field(description="关键词", examples=["桌游"])]


class Read(Lookup):
    """By id."""

    action: Literal["read"]
    item_id: Annotated[str, Field(description="列表返回的真实 ID")]


class Loose(BaseModel):
    """Lets unknown fields through, which the host warns of."""

    level: int = 0


Request = Annotated[Search | Read, Field(discriminator="action")]
