// Written by `daawo gen types`; the database is the source.

import Foundation
import Supabase

internal enum OddSchemaSchema {
  internal enum Colour: String, Codable, Hashable, Sendable {
    case bright = "bright"
    case dull = "dull"
  }
  internal enum OddEnum: String, Codable, Hashable, Sendable {
    case  = "ä"
  }
  internal struct OddTableSelect: Codable, Hashable, Sendable {
    internal let id: OddEnum?
    internal let own: Colour?
    internal let shade: Colour?
    internal enum CodingKeys: String, CodingKey {
      case id = "id"
      case own = "own"
      case shade = "shade"
    }
  }
  internal struct OddTableInsert: Codable, Hashable, Sendable {
    internal let id: OddEnum?
    internal let own: Colour?
    internal let shade: Colour?
    internal enum CodingKeys: String, CodingKey {
      case id = "id"
      case own = "own"
      case shade = "shade"
    }
  }
  internal struct OddTableUpdate: Codable, Hashable, Sendable {
    internal let id: OddEnum?
    internal let own: Colour?
    internal let shade: Colour?
    internal enum CodingKeys: String, CodingKey {
      case id = "id"
      case own = "own"
      case shade = "shade"
    }
  }
  internal struct Point: Codable, Hashable, Sendable {
    internal let Angle: AnyJSON
    internal let Of: AnyJSON
    internal enum CodingKeys: String, CodingKey {
      case Angle = "angle"
      case Of = "of"
    }
  }
}
internal enum ShapesSchema {
  internal enum Colour: String, Codable, Hashable, Sendable {
    case red = "red"
    case itSBlue = "it's \"blue\""
    case darkGreen = "dark-green"
  }
  internal struct OwnerSelect: Codable, Hashable, Sendable, Identifiable {
    internal let id: Int64
    internal let name: String
    internal let nick: String
    internal enum CodingKeys: String, CodingKey {
      case id = "id"
      case name = "name"
      case nick = "nick"
    }
  }
  internal struct OwnerInsert: Codable, Hashable, Sendable, Identifiable {
    internal let id: Int64?
    internal let name: String
    internal let nick: String
    internal enum CodingKeys: String, CodingKey {
      case id = "id"
      case name = "name"
      case nick = "nick"
    }
  }
  internal struct OwnerUpdate: Codable, Hashable, Sendable, Identifiable {
    internal let id: Int64?
    internal let name: String?
    internal let nick: String?
    internal enum CodingKeys: String, CodingKey {
      case id = "id"
      case name = "name"
      case nick = "nick"
    }
  }
  internal struct PartsSelect: Codable, Hashable, Sendable {
    internal let id: Int32?
    internal let made: String?
    internal enum CodingKeys: String, CodingKey {
      case id = "id"
      case made = "made"
    }
  }
  internal struct PartsInsert: Codable, Hashable, Sendable {
    internal let id: Int32?
    internal let made: String?
    internal enum CodingKeys: String, CodingKey {
      case id = "id"
      case made = "made"
    }
  }
  internal struct PartsUpdate: Codable, Hashable, Sendable {
    internal let id: Int32?
    internal let made: String?
    internal enum CodingKeys: String, CodingKey {
      case id = "id"
      case made = "made"
    }
  }
  internal struct Parts2026Select: Codable, Hashable, Sendable {
    internal let id: Int32?
    internal let made: String?
    internal enum CodingKeys: String, CodingKey {
      case id = "id"
      case made = "made"
    }
  }
  internal struct Parts2026Insert: Codable, Hashable, Sendable {
    internal let id: Int32?
    internal let made: String?
    internal enum CodingKeys: String, CodingKey {
      case id = "id"
      case made = "made"
    }
  }
  internal struct Parts2026Update: Codable, Hashable, Sendable {
    internal let id: Int32?
    internal let made: String?
    internal enum CodingKeys: String, CodingKey {
      case id = "id"
      case made = "made"
    }
  }
  internal struct ThingSelect: Codable, Hashable, Sendable, Identifiable {
    internal var id: Int32 { serial }
    internal let colour: Colour
    internal let colours: [Colour]
    internal let corner: PointSelect?
    internal let doubled: Decimal?
    internal let extra: AnyJSON?
    internal let grade: Int32?
    internal let grE: Int32?
    internal let id: UUID
    internal let made: String
    internal let oddPoint: PointSelect?
    internal let ownerId: Int64
    internal let serial: Int32
    internal let singleId: Int64?
    internal let size: Decimal
    internal let span: Int4rangeSelect?
    internal let sure: AnyJSON
    internal let withSpace: String?
    internal enum CodingKeys: String, CodingKey {
      case colour = "colour"
      case colours = "colours"
      case corner = "corner"
      case doubled = "doubled"
      case extra = "extra"
      case grade = "grade"
      case grE = "größe"
      case id = "id"
      case made = "made"
      case oddPoint = "odd_point"
      case ownerId = "owner_id"
      case serial = "serial"
      case singleId = "single_id"
      case size = "size"
      case span = "span"
      case sure = "sure"
      case withSpace = "with space"
    }
  }
  internal struct ThingInsert: Codable, Hashable, Sendable, Identifiable {
    internal var id: Int32? { serial }
    internal let colour: Colour?
    internal let colours: [Colour]
    internal let corner: PointSelect?
    internal let doubled: Decimal?
    internal let extra: AnyJSON?
    internal let grade: Int32?
    internal let grE: Int32?
    internal let id: UUID?
    internal let made: String?
    internal let oddPoint: PointSelect?
    internal let ownerId: Int64
    internal let serial: Int32?
    internal let singleId: Int64?
    internal let size: Decimal
    internal let span: Int4rangeSelect?
    internal let sure: AnyJSON
    internal let withSpace: String?
    internal enum CodingKeys: String, CodingKey {
      case colour = "colour"
      case colours = "colours"
      case corner = "corner"
      case doubled = "doubled"
      case extra = "extra"
      case grade = "grade"
      case grE = "größe"
      case id = "id"
      case made = "made"
      case oddPoint = "odd_point"
      case ownerId = "owner_id"
      case serial = "serial"
      case singleId = "single_id"
      case size = "size"
      case span = "span"
      case sure = "sure"
      case withSpace = "with space"
    }
  }
  internal struct ThingUpdate: Codable, Hashable, Sendable, Identifiable {
    internal var id: Int32? { serial }
    internal let colour: Colour?
    internal let colours: [Colour]?
    internal let corner: PointSelect?
    internal let doubled: Decimal?
    internal let extra: AnyJSON?
    internal let grade: Int32?
    internal let grE: Int32?
    internal let id: UUID?
    internal let made: String?
    internal let oddPoint: PointSelect?
    internal let ownerId: Int64?
    internal let serial: Int32?
    internal let singleId: Int64?
    internal let size: Decimal?
    internal let span: Int4rangeSelect?
    internal let sure: AnyJSON?
    internal let withSpace: String?
    internal enum CodingKeys: String, CodingKey {
      case colour = "colour"
      case colours = "colours"
      case corner = "corner"
      case doubled = "doubled"
      case extra = "extra"
      case grade = "grade"
      case grE = "größe"
      case id = "id"
      case made = "made"
      case oddPoint = "odd_point"
      case ownerId = "owner_id"
      case serial = "serial"
      case singleId = "single_id"
      case size = "size"
      case span = "span"
      case sure = "sure"
      case withSpace = "with space"
    }
  }
  internal struct ByRuleSelect: Codable, Hashable, Sendable {
    internal let colour: Colour?
    internal let many: Int64?
    internal enum CodingKeys: String, CodingKey {
      case colour = "colour"
      case many = "many"
    }
  }
  internal struct ByTriggerSelect: Codable, Hashable, Sendable {
    internal let colour: Colour?
    internal let many: Int64?
    internal enum CodingKeys: String, CodingKey {
      case colour = "colour"
      case many = "many"
    }
  }
  internal struct CountedSelect: Codable, Hashable, Sendable {
    internal let count: Int64?
    internal let ownerId: Int64?
    internal enum CodingKeys: String, CodingKey {
      case count = "count"
      case ownerId = "owner_id"
    }
  }
  internal struct NamedSelect: Codable, Hashable, Sendable {
    internal let id: Int64?
    internal let name: String?
    internal enum CodingKeys: String, CodingKey {
      case id = "id"
      case name = "name"
    }
  }
  internal struct Point: Codable, Hashable, Sendable {
    internal let X: AnyJSON
    internal let Y: AnyJSON
    internal let Label: String
    internal enum CodingKeys: String, CodingKey {
      case X = "x"
      case Y = "y"
      case Label = "label"
    }
  }
}
