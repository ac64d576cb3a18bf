// Written by `daawo gen types`; the database is the source.

export type Json = string | number | boolean | null | { [key: string]: Json | undefined } | Json[];

export type Database = {
  public: {
    Tables: {
      downloads_per_day: {
        Row: {
          day: string;
          downloads: number;
          resource_id: string;
        };
        Insert: {
          day: string;
          downloads?: number;
          resource_id: string;
        };
        Update: {
          day?: string;
          downloads?: number;
          resource_id?: string;
        };
        Relationships: [
          {
            foreignKeyName: 'downloads_per_day_resource_id_fkey';
            columns: ['resource_id'];
            isOneToOne: false;
            referencedRelation: 'resources';
            referencedColumns: ['id'];
          },
        ];
      };
      report_notes: {
        Row: {
          author: string | null;
          author_name: string;
          body: string;
          created_at: string;
          id: number;
          report_id: string;
        };
        Insert: {
          author?: string | null;
          author_name?: string;
          body: string;
          created_at?: string;
          id?: never;
          report_id: string;
        };
        Update: {
          author?: string | null;
          author_name?: string;
          body?: string;
          created_at?: string;
          id?: never;
          report_id?: string;
        };
        Relationships: [
          {
            foreignKeyName: 'report_notes_report_id_fkey';
            columns: ['report_id'];
            isOneToOne: false;
            referencedRelation: 'reports';
            referencedColumns: ['id'];
          },
        ];
      };
      reports: {
        Row: {
          assigned_to: string | null;
          batch_number: string | null;
          created_at: string;
          district: string | null;
          duplicate_of: string | null;
          expiry_date: string | null;
          first_action_at: string | null;
          id: string;
          idempotency_key: string | null;
          issue_description: string;
          language: Database['public']['Enums']['site_language'];
          location: string | null;
          name: string | null;
          phone: string | null;
          phone_e164: string | null;
          photo_metadata: Database['public']['Enums']['photo_metadata'] | null;
          photo_url: string | null;
          possible_duplicate_of: string | null;
          product_name: string;
          reference: string;
          region: string | null;
          reviewer_notes: string | null;
          search_text: string | null;
          status: Database['public']['Enums']['report_status'];
          updated_at: string;
          where_bought: string | null;
        };
        Insert: {
          assigned_to?: string | null;
          batch_number?: string | null;
          created_at?: string;
          district?: string | null;
          duplicate_of?: string | null;
          expiry_date?: string | null;
          first_action_at?: string | null;
          id?: string;
          idempotency_key?: string | null;
          issue_description: string;
          language?: Database['public']['Enums']['site_language'];
          location?: string | null;
          name?: string | null;
          phone?: string | null;
          phone_e164?: string | null;
          photo_metadata?: Database['public']['Enums']['photo_metadata'] | null;
          photo_url?: string | null;
          possible_duplicate_of?: string | null;
          product_name: string;
          reference?: string;
          region?: string | null;
          reviewer_notes?: string | null;
          search_text?: never;
          status?: Database['public']['Enums']['report_status'];
          updated_at?: string;
          where_bought?: string | null;
        };
        Update: {
          assigned_to?: string | null;
          batch_number?: string | null;
          created_at?: string;
          district?: string | null;
          duplicate_of?: string | null;
          expiry_date?: string | null;
          first_action_at?: string | null;
          id?: string;
          idempotency_key?: string | null;
          issue_description?: string;
          language?: Database['public']['Enums']['site_language'];
          location?: string | null;
          name?: string | null;
          phone?: string | null;
          phone_e164?: string | null;
          photo_metadata?: Database['public']['Enums']['photo_metadata'] | null;
          photo_url?: string | null;
          possible_duplicate_of?: string | null;
          product_name?: string;
          reference?: string;
          region?: string | null;
          reviewer_notes?: string | null;
          search_text?: never;
          status?: Database['public']['Enums']['report_status'];
          updated_at?: string;
          where_bought?: string | null;
        };
        Relationships: [
          {
            foreignKeyName: 'reports_possible_duplicate_of_fkey';
            columns: ['possible_duplicate_of'];
            isOneToOne: false;
            referencedRelation: 'reports';
            referencedColumns: ['id'];
          },
        ];
      };
      resources: {
        Row: {
          category: string;
          category_so: string | null;
          color_class: string;
          created_at: string;
          description: string;
          description_so: string | null;
          download_count: number;
          file_size: number;
          file_type: string;
          file_url: string;
          icon_name: Database['public']['Enums']['resource_icon'] | null;
          id: string;
          is_active: boolean;
          is_featured: boolean;
          title: string;
          title_so: string | null;
          updated_at: string;
        };
        Insert: {
          category: string;
          category_so?: string | null;
          color_class?: string;
          created_at?: string;
          description?: string;
          description_so?: string | null;
          download_count?: number;
          file_size?: number;
          file_type?: string;
          file_url?: string;
          icon_name?: Database['public']['Enums']['resource_icon'] | null;
          id?: string;
          is_active?: boolean;
          is_featured?: boolean;
          title: string;
          title_so?: string | null;
          updated_at?: string;
        };
        Update: {
          category?: string;
          category_so?: string | null;
          color_class?: string;
          created_at?: string;
          description?: string;
          description_so?: string | null;
          download_count?: number;
          file_size?: number;
          file_type?: string;
          file_url?: string;
          icon_name?: Database['public']['Enums']['resource_icon'] | null;
          id?: string;
          is_active?: boolean;
          is_featured?: boolean;
          title?: string;
          title_so?: string | null;
          updated_at?: string;
        };
        Relationships: [];
      };
      staff_trail: {
        Row: {
          action: string;
          actor: string | null;
          actor_name: string;
          at: string;
          detail: Json;
          id: number;
          subject: string;
          subject_id: string | null;
          subject_name: string | null;
        };
        Insert: {
          action: string;
          actor?: string | null;
          actor_name: string;
          at?: string;
          detail?: Json;
          id?: never;
          subject: string;
          subject_id?: string | null;
          subject_name?: string | null;
        };
        Update: {
          action?: string;
          actor?: string | null;
          actor_name?: string;
          at?: string;
          detail?: Json;
          id?: never;
          subject?: string;
          subject_id?: string | null;
          subject_name?: string | null;
        };
        Relationships: [];
      };
    };
    Views: {
      downloads_by_month: {
        Row: {
          downloads: number | null;
          month: string | null;
          resource_id: string | null;
          title: string | null;
        };
        Relationships: [];
      };
      new_reports: {
        Row: {
          batch_number: string | null;
          created_at: string | null;
          district: string | null;
          has_photo: boolean | null;
          id: string | null;
          issue_description: string | null;
          language: Database['public']['Enums']['site_language'] | null;
          location: string | null;
          photo_metadata: Database['public']['Enums']['photo_metadata'] | null;
          possible_duplicate_of: string | null;
          product_name: string | null;
          reference: string | null;
          region: string | null;
        };
        Relationships: [];
      };
    };
    Functions: {
      count_reports: { Args: { filter?: Json }; Returns: Json };
      delete_report: { Args: { name: string; reason: string }; Returns: string };
      download_figures: { Args: { since?: string }; Returns: Json };
      end_staff_sessions: { Args: { member: string }; Returns: number };
      export_reports: { Args: { since?: string; until?: string; after?: string; most?: number }; Returns: Json[] };
      forward_report: { Args: { name: string }; Returns: Json };
      list_reports: { Args: { filter?: Json; before?: string; before_id?: string; most?: number }; Returns: { id: string; reference: string; status: Database['public']['Enums']['report_status']; product_name: string; region: string; district: string; language: Database['public']['Enums']['site_language']; has_photo: boolean; assigned_to: string; possible_duplicate: boolean; notes: number; created_at: string }[] };
      move_resource: { Args: { resource: string; up: boolean }; Returns: undefined };
      my_staff_access: { Args: never; Returns: Json };
      read_report: { Args: { name: string }; Returns: Json };
      remove_staff_factors: { Args: { member: string }; Returns: number };
      report_figures: { Args: { since?: string }; Returns: Json };
      retry_job: { Args: { job: number }; Returns: boolean };
      set_staff_role: { Args: { member: string; role: Database['public']['Enums']['staff_role'] }; Returns: undefined };
      staff_members: { Args: never; Returns: { id: string; name: string; role: Database['public']['Enums']['staff_role']; email: string; invited_at: string; last_sign_in_at: string; has_factor: boolean; sessions: number }[] };
      system_state: { Args: never; Returns: Json };
      track_download: { Args: { resource_id: string }; Returns: number };
      trail_invitation: { Args: { address: string; role: Database['public']['Enums']['staff_role'] }; Returns: undefined };
      trail_operation: { Args: { name: string }; Returns: undefined };
    };
    Enums: {
      photo_metadata: 'pending' | 'removed' | 'kept';
      report_status: 'new' | 'reviewing' | 'actioned' | 'closed';
      resource_icon: 'FileText' | 'Shield' | 'Heart' | 'Baby' | 'Smartphone' | 'Users' | 'BookOpen' | 'Download';
      site_language: 'en' | 'so';
      staff_role: 'reviewer' | 'editor' | 'owner';
    };
    CompositeTypes: { [_ in never]: never };
  };
};
