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
      reports: {
        Row: {
          batch_number: string | null;
          created_at: string;
          district: string | null;
          expiry_date: string | null;
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
          status: Database['public']['Enums']['report_status'];
          updated_at: string;
          where_bought: string | null;
        };
        Insert: {
          batch_number?: string | null;
          created_at?: string;
          district?: string | null;
          expiry_date?: string | null;
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
          status?: Database['public']['Enums']['report_status'];
          updated_at?: string;
          where_bought?: string | null;
        };
        Update: {
          batch_number?: string | null;
          created_at?: string;
          district?: string | null;
          expiry_date?: string | null;
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
      track_download: { Args: { resource_id: string }; Returns: number };
    };
    Enums: {
      photo_metadata: 'pending' | 'removed' | 'kept';
      report_status: 'new' | 'reviewing' | 'actioned' | 'closed';
      resource_icon: 'FileText' | 'Shield' | 'Heart' | 'Baby' | 'Smartphone' | 'Users' | 'BookOpen' | 'Download';
      site_language: 'en' | 'so';
    };
    CompositeTypes: { [_ in never]: never };
  };
};
