// Written by `daawo gen types`; the database is the source.

export type Json =
  | string
  | number
  | boolean
  | null
  | { [key: string]: Json | undefined }
  | Json[]

export type Database = {
  public: {
    Tables: {
      downloads_per_day: {
        Row: {
          day: string
          downloads: number
          resource_id: string
        }
        Insert: {
          day: string
          downloads?: number
          resource_id: string
        }
        Update: {
          day?: string
          downloads?: number
          resource_id?: string
        }
        Relationships: [
          {
            foreignKeyName: "downloads_per_day_resource_id_fkey"
            columns: ["resource_id"]
            isOneToOne: false
            referencedRelation: "downloads_by_month"
            referencedColumns: ["resource_id"]
          },
          {
            foreignKeyName: "downloads_per_day_resource_id_fkey"
            columns: ["resource_id"]
            isOneToOne: false
            referencedRelation: "resources"
            referencedColumns: ["id"]
          },
        ]
      }
      guides: {
        Row: {
          category: string
          category_so: string | null
          created_at: string
          description: string
          description_so: string | null
          is_featured: boolean
          picture: string | null
          position: number
          review_due: string | null
          reviewed_by: string | null
          reviewed_on: string | null
          reviewed_role: string | null
          slug: string
          title: string
          title_so: string | null
          updated_at: string
          version: number
        }
        Insert: {
          category: string
          category_so?: string | null
          created_at?: string
          description?: string
          description_so?: string | null
          is_featured?: boolean
          picture?: string | null
          position?: number
          review_due?: string | null
          reviewed_by?: string | null
          reviewed_on?: string | null
          reviewed_role?: string | null
          slug: string
          title: string
          title_so?: string | null
          updated_at?: string
          version?: number
        }
        Update: {
          category?: string
          category_so?: string | null
          created_at?: string
          description?: string
          description_so?: string | null
          is_featured?: boolean
          picture?: string | null
          position?: number
          review_due?: string | null
          reviewed_by?: string | null
          reviewed_on?: string | null
          reviewed_role?: string | null
          slug?: string
          title?: string
          title_so?: string | null
          updated_at?: string
          version?: number
        }
        Relationships: []
      }
      report_contacts: {
        Row: {
          author: string | null
          author_name: string
          body: string | null
          channel: Database["public"]["Enums"]["contact_channel"]
          created_at: string
          id: number
          outcome: Database["public"]["Enums"]["contact_outcome"]
          report_id: string
          template: string | null
        }
        Insert: {
          author?: string | null
          author_name?: string
          body?: string | null
          channel: Database["public"]["Enums"]["contact_channel"]
          created_at?: string
          id?: never
          outcome: Database["public"]["Enums"]["contact_outcome"]
          report_id: string
          template?: string | null
        }
        Update: {
          author?: string | null
          author_name?: string
          body?: string | null
          channel?: Database["public"]["Enums"]["contact_channel"]
          created_at?: string
          id?: never
          outcome?: Database["public"]["Enums"]["contact_outcome"]
          report_id?: string
          template?: string | null
        }
        Relationships: [
          {
            foreignKeyName: "report_contacts_report_id_fkey"
            columns: ["report_id"]
            isOneToOne: false
            referencedRelation: "new_reports"
            referencedColumns: ["id"]
          },
          {
            foreignKeyName: "report_contacts_report_id_fkey"
            columns: ["report_id"]
            isOneToOne: false
            referencedRelation: "reports"
            referencedColumns: ["id"]
          },
        ]
      }
      report_notes: {
        Row: {
          author: string | null
          author_name: string
          body: string
          created_at: string
          id: number
          report_id: string
        }
        Insert: {
          author?: string | null
          author_name?: string
          body: string
          created_at?: string
          id?: never
          report_id: string
        }
        Update: {
          author?: string | null
          author_name?: string
          body?: string
          created_at?: string
          id?: never
          report_id?: string
        }
        Relationships: [
          {
            foreignKeyName: "report_notes_report_id_fkey"
            columns: ["report_id"]
            isOneToOne: false
            referencedRelation: "new_reports"
            referencedColumns: ["id"]
          },
          {
            foreignKeyName: "report_notes_report_id_fkey"
            columns: ["report_id"]
            isOneToOne: false
            referencedRelation: "reports"
            referencedColumns: ["id"]
          },
        ]
      }
      report_notices: {
        Row: {
          author: string | null
          author_name: string
          channel: Database["public"]["Enums"]["notice_channel"]
          created_at: string
          id: number
          receipt: string | null
          recipient: string
          report_id: string
          sent_on: string
        }
        Insert: {
          author?: string | null
          author_name?: string
          channel: Database["public"]["Enums"]["notice_channel"]
          created_at?: string
          id?: never
          receipt?: string | null
          recipient: string
          report_id: string
          sent_on?: string
        }
        Update: {
          author?: string | null
          author_name?: string
          channel?: Database["public"]["Enums"]["notice_channel"]
          created_at?: string
          id?: never
          receipt?: string | null
          recipient?: string
          report_id?: string
          sent_on?: string
        }
        Relationships: [
          {
            foreignKeyName: "report_notices_report_id_fkey"
            columns: ["report_id"]
            isOneToOne: false
            referencedRelation: "new_reports"
            referencedColumns: ["id"]
          },
          {
            foreignKeyName: "report_notices_report_id_fkey"
            columns: ["report_id"]
            isOneToOne: false
            referencedRelation: "reports"
            referencedColumns: ["id"]
          },
        ]
      }
      reports: {
        Row: {
          assigned_to: string | null
          batch_key: string | null
          batch_number: string | null
          created_at: string
          district: string | null
          due_on: string | null
          duplicate_of: string | null
          expiry_date: string | null
          first_action_at: string | null
          id: string
          idempotency_key: string | null
          issue_description: string
          language: Database["public"]["Enums"]["site_language"]
          location: string | null
          name: string | null
          phone: string | null
          phone_e164: string | null
          photo_metadata: Database["public"]["Enums"]["photo_metadata"] | null
          photo_url: string | null
          possible_duplicate_of: string | null
          priority: Database["public"]["Enums"]["report_priority"]
          product_name: string
          reference: string
          region: string | null
          reviewer_notes: string | null
          search_text: string | null
          seriousness:
            | Database["public"]["Enums"]["report_seriousness"][]
            | null
          shop_key: string | null
          status: Database["public"]["Enums"]["report_status"]
          updated_at: string
          version: number
          where_bought: string | null
        }
        Insert: {
          assigned_to?: string | null
          batch_key?: never
          batch_number?: string | null
          created_at?: string
          district?: string | null
          due_on?: string | null
          duplicate_of?: string | null
          expiry_date?: string | null
          first_action_at?: string | null
          id?: string
          idempotency_key?: string | null
          issue_description: string
          language?: Database["public"]["Enums"]["site_language"]
          location?: string | null
          name?: string | null
          phone?: string | null
          phone_e164?: string | null
          photo_metadata?: Database["public"]["Enums"]["photo_metadata"] | null
          photo_url?: string | null
          possible_duplicate_of?: string | null
          priority?: Database["public"]["Enums"]["report_priority"]
          product_name: string
          reference?: string
          region?: string | null
          reviewer_notes?: string | null
          search_text?: never
          seriousness?:
            | Database["public"]["Enums"]["report_seriousness"][]
            | null
          shop_key?: never
          status?: Database["public"]["Enums"]["report_status"]
          updated_at?: string
          version?: number
          where_bought?: string | null
        }
        Update: {
          assigned_to?: string | null
          batch_key?: never
          batch_number?: string | null
          created_at?: string
          district?: string | null
          due_on?: string | null
          duplicate_of?: string | null
          expiry_date?: string | null
          first_action_at?: string | null
          id?: string
          idempotency_key?: string | null
          issue_description?: string
          language?: Database["public"]["Enums"]["site_language"]
          location?: string | null
          name?: string | null
          phone?: string | null
          phone_e164?: string | null
          photo_metadata?: Database["public"]["Enums"]["photo_metadata"] | null
          photo_url?: string | null
          possible_duplicate_of?: string | null
          priority?: Database["public"]["Enums"]["report_priority"]
          product_name?: string
          reference?: string
          region?: string | null
          reviewer_notes?: string | null
          search_text?: never
          seriousness?:
            | Database["public"]["Enums"]["report_seriousness"][]
            | null
          shop_key?: never
          status?: Database["public"]["Enums"]["report_status"]
          updated_at?: string
          version?: number
          where_bought?: string | null
        }
        Relationships: [
          {
            foreignKeyName: "reports_possible_duplicate_of_fkey"
            columns: ["possible_duplicate_of"]
            isOneToOne: false
            referencedRelation: "new_reports"
            referencedColumns: ["id"]
          },
          {
            foreignKeyName: "reports_possible_duplicate_of_fkey"
            columns: ["possible_duplicate_of"]
            isOneToOne: false
            referencedRelation: "reports"
            referencedColumns: ["id"]
          },
        ]
      }
      resource_versions: {
        Row: {
          file_size: number
          file_type: string
          file_url: string
          number: number
          replaced_at: string
          resource_id: string
        }
        Insert: {
          file_size: number
          file_type: string
          file_url: string
          number: number
          replaced_at?: string
          resource_id: string
        }
        Update: {
          file_size?: number
          file_type?: string
          file_url?: string
          number?: number
          replaced_at?: string
          resource_id?: string
        }
        Relationships: [
          {
            foreignKeyName: "resource_versions_resource_id_fkey"
            columns: ["resource_id"]
            isOneToOne: false
            referencedRelation: "downloads_by_month"
            referencedColumns: ["resource_id"]
          },
          {
            foreignKeyName: "resource_versions_resource_id_fkey"
            columns: ["resource_id"]
            isOneToOne: false
            referencedRelation: "resources"
            referencedColumns: ["id"]
          },
        ]
      }
      resources: {
        Row: {
          category: string
          category_so: string | null
          color_class: string
          created_at: string
          description: string
          description_so: string | null
          download_count: number
          file_language: Database["public"]["Enums"]["site_language"] | null
          file_size: number
          file_type: string
          file_url: string
          guide: string | null
          icon_name: string | null
          id: string
          is_active: boolean
          is_featured: boolean
          preview_url: string | null
          title: string
          title_so: string | null
          updated_at: string
          version: number
        }
        Insert: {
          category: string
          category_so?: string | null
          color_class?: string
          created_at?: string
          description?: string
          description_so?: string | null
          download_count?: number
          file_language?: Database["public"]["Enums"]["site_language"] | null
          file_size?: number
          file_type?: string
          file_url?: string
          guide?: string | null
          icon_name?: string | null
          id?: string
          is_active?: boolean
          is_featured?: boolean
          preview_url?: string | null
          title: string
          title_so?: string | null
          updated_at?: string
          version?: number
        }
        Update: {
          category?: string
          category_so?: string | null
          color_class?: string
          created_at?: string
          description?: string
          description_so?: string | null
          download_count?: number
          file_language?: Database["public"]["Enums"]["site_language"] | null
          file_size?: number
          file_type?: string
          file_url?: string
          guide?: string | null
          icon_name?: string | null
          id?: string
          is_active?: boolean
          is_featured?: boolean
          preview_url?: string | null
          title?: string
          title_so?: string | null
          updated_at?: string
          version?: number
        }
        Relationships: [
          {
            foreignKeyName: "resources_guide_known"
            columns: ["guide"]
            isOneToOne: false
            referencedRelation: "guides"
            referencedColumns: ["slug"]
          },
        ]
      }
      staff_trail: {
        Row: {
          action: string
          actor: string | null
          actor_name: string
          at: string
          detail: NonNullable<Json>
          id: number
          subject: string
          subject_id: string | null
          subject_name: string | null
        }
        Insert: {
          action: string
          actor?: string | null
          actor_name: string
          at?: string
          detail?: NonNullable<Json>
          id?: never
          subject: string
          subject_id?: string | null
          subject_name?: string | null
        }
        Update: {
          action?: string
          actor?: string | null
          actor_name?: string
          at?: string
          detail?: NonNullable<Json>
          id?: never
          subject?: string
          subject_id?: string | null
          subject_name?: string | null
        }
        Relationships: []
      }
    }
    Views: {
      downloads_by_month: {
        Row: {
          downloads: number | null
          month: string | null
          resource_id: string | null
          title: string | null
        }
        Relationships: []
      }
      new_reports: {
        Row: {
          batch_number: string | null
          created_at: string | null
          district: string | null
          has_photo: boolean | null
          id: string | null
          issue_description: string | null
          language: Database["public"]["Enums"]["site_language"] | null
          location: string | null
          photo_metadata: Database["public"]["Enums"]["photo_metadata"] | null
          possible_duplicate_of: string | null
          product_name: string | null
          reference: string | null
          region: string | null
        }
        Relationships: []
      }
    }
    Functions: {
      change_reports: { Args: { changes: Json }; Returns: Json }
      count_reports: { Args: { filter?: Json }; Returns: Json }
      delete_report: { Args: { name: string; reason: string }; Returns: string }
      download_figures: { Args: { since?: string }; Returns: Json }
      end_staff_sessions: { Args: { member: string }; Returns: number }
      export_cases: { Args: { ids: string[] }; Returns: Json[] }
      export_reports: {
        Args: { after?: string; most?: number; since?: string; until?: string }
        Returns: Json[]
      }
      forward_report: { Args: { name: string }; Returns: Json }
      link_reports: {
        Args: { linked?: boolean; others: string[]; report: string }
        Returns: undefined
      }
      list_reports: {
        Args: {
          before?: string
          before_id?: string
          filter?: Json
          most?: number
        }
        Returns: {
          assigned_to: string
          created_at: string
          district: string
          due_on: string
          has_photo: boolean
          id: string
          language: Database["public"]["Enums"]["site_language"]
          notes: number
          possible_duplicate: boolean
          priority: Database["public"]["Enums"]["report_priority"]
          product_name: string
          reference: string
          region: string
          seriousness: Database["public"]["Enums"]["report_seriousness"][]
          status: Database["public"]["Enums"]["report_status"]
          version: number
          voice_messages: number
        }[]
      }
      move_resource: {
        Args: { resource: string; up: boolean }
        Returns: undefined
      }
      my_staff_access: { Args: Record<PropertyKey, never>; Returns: Json }
      read_report: { Args: { name: string }; Returns: Json }
      related_reports: { Args: { report: string }; Returns: Json }
      remove_staff_factors: { Args: { member: string }; Returns: number }
      report_clusters: { Args: { since?: string }; Returns: Json }
      report_figures: { Args: { since?: string }; Returns: Json }
      report_timeline: { Args: { report: string }; Returns: Json }
      retry_job: { Args: { job: number }; Returns: boolean }
      review_guide: {
        Args: {
          due: string
          guide: string
          profession: string
          version: number
        }
        Returns: boolean
      }
      set_staff_role: {
        Args: {
          member: string
          role: Database["public"]["Enums"]["staff_role"]
        }
        Returns: undefined
      }
      staff_members: {
        Args: Record<PropertyKey, never>
        Returns: {
          email: string
          has_factor: boolean
          id: string
          invited_at: string
          last_sign_in_at: string
          name: string
          role: Database["public"]["Enums"]["staff_role"]
          sessions: number
        }[]
      }
      system_state: { Args: Record<PropertyKey, never>; Returns: Json }
      track_download: { Args: { resource_id: string }; Returns: number }
      trail_invitation: {
        Args: {
          address: string
          role: Database["public"]["Enums"]["staff_role"]
        }
        Returns: undefined
      }
      trail_operation: { Args: { name: string }; Returns: undefined }
    }
    Enums: {
      contact_channel: "call" | "whatsapp" | "voice" | "sms" | "visit" | "other"
      contact_outcome:
        | "reached"
        | "no_answer"
        | "call_later"
        | "wrong_number"
        | "declined"
        | "sent"
      notice_channel: "paper" | "mail" | "portal" | "e2b" | "other"
      photo_metadata: "pending" | "removed" | "kept"
      report_priority: "normal" | "high" | "urgent"
      report_seriousness:
        | "death"
        | "life_threatening"
        | "hospital"
        | "disability"
        | "congenital"
        | "important"
      report_status: "new" | "reviewing" | "actioned" | "closed"
      site_language: "en" | "so"
      staff_role: "reviewer" | "editor" | "owner"
    }
    CompositeTypes: {
      [_ in never]: never
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
  public: {
    Enums: {
      contact_channel: ["call", "whatsapp", "voice", "sms", "visit", "other"],
      contact_outcome: [
        "reached",
        "no_answer",
        "call_later",
        "wrong_number",
        "declined",
        "sent",
      ],
      notice_channel: ["paper", "mail", "portal", "e2b", "other"],
      photo_metadata: ["pending", "removed", "kept"],
      report_priority: ["normal", "high", "urgent"],
      report_seriousness: [
        "death",
        "life_threatening",
        "hospital",
        "disability",
        "congenital",
        "important",
      ],
      report_status: ["new", "reviewing", "actioned", "closed"],
      site_language: ["en", "so"],
      staff_role: ["reviewer", "editor", "owner"],
    },
  },
} as const
