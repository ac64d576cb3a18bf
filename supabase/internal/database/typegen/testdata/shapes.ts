// Written by `daawo gen types`; the database is the source.

export type Json =
  | string
  | number
  | boolean
  | null
  | { [key: string]: Json | undefined }
  | Json[]

export type Database = {
  "odd schema": {
    Tables: {
      "odd table": {
        Row: {
          id: Database["odd schema"]["Enums"]["odd-enum"] | null
          own: Database["odd schema"]["Enums"]["colour"] | null
          shade: Database["shapes"]["Enums"]["colour"] | null
        }
        Insert: {
          id?: Database["odd schema"]["Enums"]["odd-enum"] | null
          own?: Database["odd schema"]["Enums"]["colour"] | null
          shade?: Database["shapes"]["Enums"]["colour"] | null
        }
        Update: {
          id?: Database["odd schema"]["Enums"]["odd-enum"] | null
          own?: Database["odd schema"]["Enums"]["colour"] | null
          shade?: Database["shapes"]["Enums"]["colour"] | null
        }
        Relationships: []
      }
    }
    Views: {
      [_ in never]: never
    }
    Functions: {
      no_column: {
        Args: { one: Database["shapes"]["Tables"]["owner"]["Row"] }
        Returns: number
      }
    }
    Enums: {
      colour: "bright" | "dull"
      "odd-enum": "ä"
    }
    CompositeTypes: {
      point: {
        angle: number | null
        of: Json | null
      }
    }
  }
  shapes: {
    Tables: {
      owner: {
        Row: {
          id: number
          name: string
          nick: string
          title: string | null
        }
        Insert: {
          id?: never
          name: string
          nick: string
        }
        Update: {
          id?: never
          name?: string
          nick?: string
        }
        Relationships: []
      }
      parts: {
        Row: {
          id: number | null
          made: string | null
        }
        Insert: {
          id?: number | null
          made?: string | null
        }
        Update: {
          id?: number | null
          made?: string | null
        }
        Relationships: []
      }
      parts_2026: {
        Row: {
          id: number | null
          made: string | null
        }
        Insert: {
          id?: number | null
          made?: string | null
        }
        Update: {
          id?: number | null
          made?: string | null
        }
        Relationships: []
      }
      thing: {
        Row: {
          colour: Database["shapes"]["Enums"]["colour"]
          colours: Database["shapes"]["Enums"]["colour"][]
          corner: Database["shapes"]["CompositeTypes"]["point"] | null
          doubled: number | null
          extra: Json | null
          grade: number | null
          größe: number | null
          id: string
          made: string
          odd_point: Database["odd schema"]["CompositeTypes"]["point"] | null
          owner_id: number
          serial: number
          single_id: number | null
          size: number
          span: unknown
          sure: NonNullable<Json>
          "with space": string | null
          extras: Json | null
        }
        Insert: {
          colour?: Database["shapes"]["Enums"]["colour"]
          colours: Database["shapes"]["Enums"]["colour"][]
          corner?: Database["shapes"]["CompositeTypes"]["point"] | null
          doubled?: never
          extra?: Json | null
          grade?: number | null
          größe?: number | null
          id?: string
          made?: string
          odd_point?: Database["odd schema"]["CompositeTypes"]["point"] | null
          owner_id: number
          serial?: number
          single_id?: number | null
          size: number
          span?: unknown
          sure: NonNullable<Json>
          "with space"?: string | null
        }
        Update: {
          colour?: Database["shapes"]["Enums"]["colour"]
          colours?: Database["shapes"]["Enums"]["colour"][]
          corner?: Database["shapes"]["CompositeTypes"]["point"] | null
          doubled?: never
          extra?: Json | null
          grade?: number | null
          größe?: number | null
          id?: string
          made?: string
          odd_point?: Database["odd schema"]["CompositeTypes"]["point"] | null
          owner_id?: number
          serial?: number
          single_id?: number | null
          size?: number
          span?: unknown
          sure?: NonNullable<Json>
          "with space"?: string | null
        }
        Relationships: [
          {
            foreignKeyName: "thing_owner_id_fkey"
            columns: ["owner_id"]
            isOneToOne: false
            referencedRelation: "named"
            referencedColumns: ["id"]
          },
          {
            foreignKeyName: "thing_owner_id_fkey"
            columns: ["owner_id"]
            isOneToOne: false
            referencedRelation: "owner"
            referencedColumns: ["id"]
          },
          {
            foreignKeyName: "thing_single_id_fkey"
            columns: ["single_id"]
            isOneToOne: true
            referencedRelation: "named"
            referencedColumns: ["id"]
          },
          {
            foreignKeyName: "thing_single_id_fkey"
            columns: ["single_id"]
            isOneToOne: true
            referencedRelation: "owner"
            referencedColumns: ["id"]
          },
        ]
      }
    }
    Views: {
      by_rule: {
        Row: {
          colour: Database["shapes"]["Enums"]["colour"] | null
          many: number | null
        }
        Update: {
          colour?: Database["shapes"]["Enums"]["colour"] | null
          many?: number | null
        }
        Relationships: []
      }
      by_trigger: {
        Row: {
          colour: Database["shapes"]["Enums"]["colour"] | null
          many: number | null
        }
        Insert: {
          colour?: Database["shapes"]["Enums"]["colour"] | null
          many?: number | null
        }
        Relationships: []
      }
      counted: {
        Row: {
          count: number | null
          owner_id: number | null
        }
        Relationships: [
          {
            foreignKeyName: "thing_owner_id_fkey"
            columns: ["owner_id"]
            isOneToOne: false
            referencedRelation: "named"
            referencedColumns: ["id"]
          },
          {
            foreignKeyName: "thing_owner_id_fkey"
            columns: ["owner_id"]
            isOneToOne: false
            referencedRelation: "owner"
            referencedColumns: ["id"]
          },
        ]
      }
      named: {
        Row: {
          id: number | null
          name: string | null
          rank: number | null
        }
        Insert: {
          id?: number | null
          name?: string | null
        }
        Update: {
          id?: number | null
          name?: string | null
        }
        Relationships: []
      }
    }
    Functions: {
      add: { Args: { a: number; b?: number }; Returns: number }
      extras: {
        Args: { one: Database["shapes"]["Tables"]["thing"]["Row"] }
        Returns: Json
      }
      listed: {
        Args: Record<PropertyKey, never>
        Returns: {
          a: number
          b: Database["shapes"]["Enums"]["colour"]
        }[]
      }
      listed_one: {
        Args: Record<PropertyKey, never>
        Returns: {
          a: number
        }[]
      }
      many: { Args: { list: string[] }; Returns: string }
      nothing: { Args: Record<PropertyKey, never>; Returns: undefined }
      one: { Args: Record<PropertyKey, never>; Returns: number }
      over:
        | {
            Args: { a: number }
            Returns: {
              error: true
            } & "Could not choose the best candidate function between: shapes.over(a => int4), shapes.over(a => text). Try renaming the parameters or the function itself in the database so function overloading can be resolved"
          }
        | {
            Args: { a: string }
            Returns: {
              error: true
            } & "Could not choose the best candidate function between: shapes.over(a => int4), shapes.over(a => text). Try renaming the parameters or the function itself in the database so function overloading can be resolved"
          }
      pair: {
        Args: Record<PropertyKey, never>
        Returns: Record<string, unknown>
      }
      rank: {
        Args: { r: Database["shapes"]["Views"]["named"]["Row"] }
        Returns: number
      }
      raw: {
        Args: Record<PropertyKey, never>
        Returns: Record<string, unknown>
      }
      things: {
        Args: { owner: number }
        Returns: {
          colour: Database["shapes"]["Enums"]["colour"]
          colours: Database["shapes"]["Enums"]["colour"][]
          corner: Database["shapes"]["CompositeTypes"]["point"] | null
          doubled: number | null
          extra: Json | null
          grade: number | null
          größe: number | null
          id: string
          made: string
          odd_point: Database["odd schema"]["CompositeTypes"]["point"] | null
          owner_id: number
          serial: number
          single_id: number | null
          size: number
          span: unknown
          sure: NonNullable<Json>
          "with space": string | null
        }[]
        SetofOptions: {
          from: "*"
          to: "thing"
          isOneToOne: false
          isSetofReturn: true
        }
      }
      title: {
        Args: { "": Database["shapes"]["Tables"]["owner"]["Row"] }
        Returns: {
          error: true
        } & "the function shapes.title with parameter or with a single unnamed json/jsonb parameter, but no matches were found in the schema cache"
      }
    }
    Enums: {
      colour: "red" | 'it\'s "blue"' | "dark-green"
    }
    CompositeTypes: {
      point: {
        x: number | null
        y: number | null
        label: string | null
      }
    }
  }
}

type DatabaseWithoutInternals = Omit<Database, "__InternalSupabase">

type DefaultSchema = DatabaseWithoutInternals[Extract<keyof Database, "public">]

export type Tables<
  DefaultSchemaTableNameOrOptions extends
    | keyof (DefaultSchema["Tables"] & DefaultSchema["Views"])
    | { schema: keyof DatabaseWithoutInternals },
  TableName extends (DefaultSchemaTableNameOrOptions extends {
    schema: keyof DatabaseWithoutInternals
  }
    ? keyof (DatabaseWithoutInternals[DefaultSchemaTableNameOrOptions["schema"]]["Tables"] &
        DatabaseWithoutInternals[DefaultSchemaTableNameOrOptions["schema"]]["Views"])
    : never) = never,
> = DefaultSchemaTableNameOrOptions extends {
  schema: keyof DatabaseWithoutInternals
}
  ? (DatabaseWithoutInternals[DefaultSchemaTableNameOrOptions["schema"]]["Tables"] &
      DatabaseWithoutInternals[DefaultSchemaTableNameOrOptions["schema"]]["Views"])[TableName] extends {
      Row: infer R
    }
    ? R
    : never
  : DefaultSchemaTableNameOrOptions extends keyof (DefaultSchema["Tables"] &
        DefaultSchema["Views"])
    ? (DefaultSchema["Tables"] &
        DefaultSchema["Views"])[DefaultSchemaTableNameOrOptions] extends {
        Row: infer R
      }
      ? R
      : never
    : never

export type TablesInsert<
  DefaultSchemaTableNameOrOptions extends
    | keyof DefaultSchema["Tables"]
    | { schema: keyof DatabaseWithoutInternals },
  TableName extends (DefaultSchemaTableNameOrOptions extends {
    schema: keyof DatabaseWithoutInternals
  }
    ? keyof DatabaseWithoutInternals[DefaultSchemaTableNameOrOptions["schema"]]["Tables"]
    : never) = never,
> = DefaultSchemaTableNameOrOptions extends {
  schema: keyof DatabaseWithoutInternals
}
  ? DatabaseWithoutInternals[DefaultSchemaTableNameOrOptions["schema"]]["Tables"][TableName] extends {
      Insert: infer I
    }
    ? I
    : never
  : DefaultSchemaTableNameOrOptions extends keyof DefaultSchema["Tables"]
    ? DefaultSchema["Tables"][DefaultSchemaTableNameOrOptions] extends {
        Insert: infer I
      }
      ? I
      : never
    : never

export type TablesUpdate<
  DefaultSchemaTableNameOrOptions extends
    | keyof DefaultSchema["Tables"]
    | { schema: keyof DatabaseWithoutInternals },
  TableName extends (DefaultSchemaTableNameOrOptions extends {
    schema: keyof DatabaseWithoutInternals
  }
    ? keyof DatabaseWithoutInternals[DefaultSchemaTableNameOrOptions["schema"]]["Tables"]
    : never) = never,
> = DefaultSchemaTableNameOrOptions extends {
  schema: keyof DatabaseWithoutInternals
}
  ? DatabaseWithoutInternals[DefaultSchemaTableNameOrOptions["schema"]]["Tables"][TableName] extends {
      Update: infer U
    }
    ? U
    : never
  : DefaultSchemaTableNameOrOptions extends keyof DefaultSchema["Tables"]
    ? DefaultSchema["Tables"][DefaultSchemaTableNameOrOptions] extends {
        Update: infer U
      }
      ? U
      : never
    : never

export type Enums<
  DefaultSchemaEnumNameOrOptions extends
    | keyof DefaultSchema["Enums"]
    | { schema: keyof DatabaseWithoutInternals },
  EnumName extends (DefaultSchemaEnumNameOrOptions extends {
    schema: keyof DatabaseWithoutInternals
  }
    ? keyof DatabaseWithoutInternals[DefaultSchemaEnumNameOrOptions["schema"]]["Enums"]
    : never) = never,
> = DefaultSchemaEnumNameOrOptions extends {
  schema: keyof DatabaseWithoutInternals
}
  ? DatabaseWithoutInternals[DefaultSchemaEnumNameOrOptions["schema"]]["Enums"][EnumName]
  : DefaultSchemaEnumNameOrOptions extends keyof DefaultSchema["Enums"]
    ? DefaultSchema["Enums"][DefaultSchemaEnumNameOrOptions]
    : never

export type CompositeTypes<
  PublicCompositeTypeNameOrOptions extends
    | keyof DefaultSchema["CompositeTypes"]
    | { schema: keyof DatabaseWithoutInternals },
  CompositeTypeName extends (PublicCompositeTypeNameOrOptions extends {
    schema: keyof DatabaseWithoutInternals
  }
    ? keyof DatabaseWithoutInternals[PublicCompositeTypeNameOrOptions["schema"]]["CompositeTypes"]
    : never) = never,
> = PublicCompositeTypeNameOrOptions extends {
  schema: keyof DatabaseWithoutInternals
}
  ? DatabaseWithoutInternals[PublicCompositeTypeNameOrOptions["schema"]]["CompositeTypes"][CompositeTypeName]
  : PublicCompositeTypeNameOrOptions extends keyof DefaultSchema["CompositeTypes"]
    ? DefaultSchema["CompositeTypes"][PublicCompositeTypeNameOrOptions]
    : never

export const Constants = {
  "odd schema": {
    Enums: {
      colour: ["bright", "dull"],
      "odd-enum": ["ä"],
    },
  },
  shapes: {
    Enums: {
      colour: ["red", 'it\'s "blue"', "dark-green"],
    },
  },
} as const
