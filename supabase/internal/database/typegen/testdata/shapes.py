# Written by `daawo gen types`; the database is the source.

from __future__ import annotations

import datetime
import uuid
from typing import (
    Annotated,
    Any,
    List,
    Literal,
    Optional,
    TypedDict,
)
from typing_extensions import NotRequired, TypeAlias

from pydantic import BaseModel, Field, JsonValue

AuthAalLevel: TypeAlias = Literal["aal1", "aal2", "aal3"]

AuthCodeChallengeMethod: TypeAlias = Literal["s256", "plain"]

AuthFactorStatus: TypeAlias = Literal["unverified", "verified"]

AuthFactorType: TypeAlias = Literal["totp", "webauthn", "phone"]

AuthOauthAuthorizationStatus: TypeAlias = Literal["pending", "approved", "denied", "expired"]

AuthOauthClientType: TypeAlias = Literal["public", "confidential"]

AuthOauthRegistrationType: TypeAlias = Literal["dynamic", "manual"]

AuthOauthResponseType: TypeAlias = Literal["code"]

AuthOneTimeTokenType: TypeAlias = Literal["confirmation_token", "reauthentication_token", "recovery_token", "email_change_token_new", "email_change_token_current", "phone_change_token"]

NetRequestStatus: TypeAlias = Literal["PENDING", "SUCCESS", "ERROR"]

OddSchemaColour: TypeAlias = Literal["bright", "dull"]

OddSchemaOddEnum: TypeAlias = Literal["ä"]

PgsodiumKeyStatus: TypeAlias = Literal["default", "valid", "invalid", "expired"]

PgsodiumKeyType: TypeAlias = Literal["aead-ietf", "aead-det", "hmacsha512", "hmacsha256", "auth", "shorthash", "generichash", "kdf", "secretbox", "secretstream", "stream_xchacha20"]

RealtimeAction: TypeAlias = Literal["INSERT", "UPDATE", "DELETE", "TRUNCATE", "ERROR"]

RealtimeEqualityOp: TypeAlias = Literal["eq", "neq", "lt", "lte", "gt", "gte", "in", "like", "ilike", "is", "match", "imatch", "isdistinct"]

ShapesColour: TypeAlias = Literal["red", "it's \"blue\"", "dark-green"]

StorageBuckettype: TypeAlias = Literal["STANDARD", "ANALYTICS", "VECTOR"]

class OddSchemaOddTable(BaseModel):
    id: Optional[OddSchemaOddEnum] = Field(alias="id")
    own: Optional[OddSchemaColour] = Field(alias="own")
    shade: Optional[ShapesColour] = Field(alias="shade")

class OddSchemaOddTableInsert(TypedDict):
    id: NotRequired[Annotated[Optional[OddSchemaOddEnum], Field(alias="id")]]
    own: NotRequired[Annotated[Optional[OddSchemaColour], Field(alias="own")]]
    shade: NotRequired[Annotated[Optional[ShapesColour], Field(alias="shade")]]

class OddSchemaOddTableUpdate(TypedDict):
    id: NotRequired[Annotated[Optional[OddSchemaOddEnum], Field(alias="id")]]
    own: NotRequired[Annotated[Optional[OddSchemaColour], Field(alias="own")]]
    shade: NotRequired[Annotated[Optional[ShapesColour], Field(alias="shade")]]

class ShapesOwner(BaseModel):
    id: int = Field(alias="id")
    name: str = Field(alias="name")
    nick: str = Field(alias="nick")

class ShapesOwnerInsert(TypedDict):
    id: NotRequired[Annotated[int, Field(alias="id")]]
    name: Annotated[str, Field(alias="name")]
    nick: Annotated[str, Field(alias="nick")]

class ShapesOwnerUpdate(TypedDict):
    id: NotRequired[Annotated[int, Field(alias="id")]]
    name: NotRequired[Annotated[str, Field(alias="name")]]
    nick: NotRequired[Annotated[str, Field(alias="nick")]]

class ShapesParts(BaseModel):
    id: Optional[int] = Field(alias="id")
    made: Optional[datetime.date] = Field(alias="made")

class ShapesPartsInsert(TypedDict):
    id: NotRequired[Annotated[Optional[int], Field(alias="id")]]
    made: NotRequired[Annotated[Optional[datetime.date], Field(alias="made")]]

class ShapesPartsUpdate(TypedDict):
    id: NotRequired[Annotated[Optional[int], Field(alias="id")]]
    made: NotRequired[Annotated[Optional[datetime.date], Field(alias="made")]]

class ShapesParts2026(BaseModel):
    id: Optional[int] = Field(alias="id")
    made: Optional[datetime.date] = Field(alias="made")

class ShapesParts2026Insert(TypedDict):
    id: NotRequired[Annotated[Optional[int], Field(alias="id")]]
    made: NotRequired[Annotated[Optional[datetime.date], Field(alias="made")]]

class ShapesParts2026Update(TypedDict):
    id: NotRequired[Annotated[Optional[int], Field(alias="id")]]
    made: NotRequired[Annotated[Optional[datetime.date], Field(alias="made")]]

class ShapesThing(BaseModel):
    colour: ShapesColour = Field(alias="colour")
    colours: List[ShapesColour] = Field(alias="colours")
    corner: Optional[ShapesPoint] = Field(alias="corner")
    doubled: Optional[float] = Field(alias="doubled")
    extra: Optional[JsonValue] = Field(alias="extra")
    grade: Optional[int] = Field(alias="grade")
    gr_e: Optional[int] = Field(alias="größe")
    id: uuid.UUID = Field(alias="id")
    made: datetime.datetime = Field(alias="made")
    odd_point: Optional[OddSchemaPoint] = Field(alias="odd_point")
    owner_id: int = Field(alias="owner_id")
    serial: int = Field(alias="serial")
    single_id: Optional[int] = Field(alias="single_id")
    size: float = Field(alias="size")
    span: Optional[str] = Field(alias="span")
    sure: JsonValue = Field(alias="sure")
    with_space: Optional[datetime.date] = Field(alias="with space")

class ShapesThingInsert(TypedDict):
    colour: NotRequired[Annotated[ShapesColour, Field(alias="colour")]]
    colours: Annotated[List[ShapesColour], Field(alias="colours")]
    corner: NotRequired[Annotated[Optional[ShapesPoint], Field(alias="corner")]]
    doubled: NotRequired[Annotated[Optional[float], Field(alias="doubled")]]
    extra: NotRequired[Annotated[Optional[JsonValue], Field(alias="extra")]]
    grade: NotRequired[Annotated[Optional[int], Field(alias="grade")]]
    gr_e: NotRequired[Annotated[Optional[int], Field(alias="größe")]]
    id: NotRequired[Annotated[uuid.UUID, Field(alias="id")]]
    made: NotRequired[Annotated[datetime.datetime, Field(alias="made")]]
    odd_point: NotRequired[Annotated[Optional[OddSchemaPoint], Field(alias="odd_point")]]
    owner_id: Annotated[int, Field(alias="owner_id")]
    serial: NotRequired[Annotated[int, Field(alias="serial")]]
    single_id: NotRequired[Annotated[Optional[int], Field(alias="single_id")]]
    size: Annotated[float, Field(alias="size")]
    span: NotRequired[Annotated[Optional[str], Field(alias="span")]]
    sure: Annotated[JsonValue, Field(alias="sure")]
    with_space: NotRequired[Annotated[Optional[datetime.date], Field(alias="with space")]]

class ShapesThingUpdate(TypedDict):
    colour: NotRequired[Annotated[ShapesColour, Field(alias="colour")]]
    colours: NotRequired[Annotated[List[ShapesColour], Field(alias="colours")]]
    corner: NotRequired[Annotated[Optional[ShapesPoint], Field(alias="corner")]]
    doubled: NotRequired[Annotated[Optional[float], Field(alias="doubled")]]
    extra: NotRequired[Annotated[Optional[JsonValue], Field(alias="extra")]]
    grade: NotRequired[Annotated[Optional[int], Field(alias="grade")]]
    gr_e: NotRequired[Annotated[Optional[int], Field(alias="größe")]]
    id: NotRequired[Annotated[uuid.UUID, Field(alias="id")]]
    made: NotRequired[Annotated[datetime.datetime, Field(alias="made")]]
    odd_point: NotRequired[Annotated[Optional[OddSchemaPoint], Field(alias="odd_point")]]
    owner_id: NotRequired[Annotated[int, Field(alias="owner_id")]]
    serial: NotRequired[Annotated[int, Field(alias="serial")]]
    single_id: NotRequired[Annotated[Optional[int], Field(alias="single_id")]]
    size: NotRequired[Annotated[float, Field(alias="size")]]
    span: NotRequired[Annotated[Optional[str], Field(alias="span")]]
    sure: NotRequired[Annotated[JsonValue, Field(alias="sure")]]
    with_space: NotRequired[Annotated[Optional[datetime.date], Field(alias="with space")]]

class ShapesByRule(BaseModel):
    colour: Optional[ShapesColour] = Field(alias="colour")
    many: Optional[int] = Field(alias="many")

class ShapesByTrigger(BaseModel):
    colour: Optional[ShapesColour] = Field(alias="colour")
    many: Optional[int] = Field(alias="many")

class ShapesCounted(BaseModel):
    count: Optional[int] = Field(alias="count")
    owner_id: Optional[int] = Field(alias="owner_id")

class ShapesNamed(BaseModel):
    id: Optional[int] = Field(alias="id")
    name: Optional[str] = Field(alias="name")



class OddSchemaPoint(BaseModel):
    angle: Optional[float] = Field(alias="angle")
    of: Optional[JsonValue] = Field(alias="of")

class ShapesPoint(BaseModel):
    x: Optional[float] = Field(alias="x")
    y: Optional[float] = Field(alias="y")
    label: Optional[str] = Field(alias="label")
