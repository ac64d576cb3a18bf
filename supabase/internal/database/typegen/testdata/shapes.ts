// Written by `daawo gen types`; the database is the source.

export type Json = string | number | boolean | null | { [key: string]: Json | undefined } | Json[];

export type Database = {
  shapes: {
    Tables: {
      owner: {
        Row: {
          id: number;
          name: string;
          nick: string;
        };
        Insert: {
          id?: never;
          name: string;
          nick: string;
        };
        Update: {
          id?: never;
          name?: string;
          nick?: string;
        };
        Relationships: [];
      };
      parts: {
        Row: {
          id: number | null;
          made: string | null;
        };
        Insert: {
          id?: number | null;
          made?: string | null;
        };
        Update: {
          id?: number | null;
          made?: string | null;
        };
        Relationships: [];
      };
      thing: {
        Row: {
          colour: Database['shapes']['Enums']['colour'];
          colours: Database['shapes']['Enums']['colour'][];
          corner: Database['shapes']['CompositeTypes']['point'] | null;
          doubled: number | null;
          extra: Json | null;
          grade: number | null;
          id: string;
          made: string;
          owner_id: number;
          serial: number;
          single_id: number | null;
          size: number;
          span: unknown;
          'with space': string | null;
        };
        Insert: {
          colour?: Database['shapes']['Enums']['colour'];
          colours: Database['shapes']['Enums']['colour'][];
          corner?: Database['shapes']['CompositeTypes']['point'] | null;
          doubled?: never;
          extra?: Json | null;
          grade?: number | null;
          id?: string;
          made?: string;
          owner_id: number;
          serial?: number;
          single_id?: number | null;
          size: number;
          span?: unknown;
          'with space'?: string | null;
        };
        Update: {
          colour?: Database['shapes']['Enums']['colour'];
          colours?: Database['shapes']['Enums']['colour'][];
          corner?: Database['shapes']['CompositeTypes']['point'] | null;
          doubled?: never;
          extra?: Json | null;
          grade?: number | null;
          id?: string;
          made?: string;
          owner_id?: number;
          serial?: number;
          single_id?: number | null;
          size?: number;
          span?: unknown;
          'with space'?: string | null;
        };
        Relationships: [
          {
            foreignKeyName: 'thing_owner_id_fkey';
            columns: ['owner_id'];
            isOneToOne: false;
            referencedRelation: 'owner';
            referencedColumns: ['id'];
          },
          {
            foreignKeyName: 'thing_single_id_fkey';
            columns: ['single_id'];
            isOneToOne: true;
            referencedRelation: 'owner';
            referencedColumns: ['id'];
          },
        ];
      };
    };
    Views: {
      counted: {
        Row: {
          count: number | null;
          owner_id: number | null;
        };
        Relationships: [];
      };
      named: {
        Row: {
          id: number | null;
          name: string | null;
        };
        Insert: {
          id?: number | null;
          name?: string | null;
        };
        Update: {
          id?: number | null;
          name?: string | null;
        };
        Relationships: [];
      };
    };
    Functions: {
      add: { Args: { a: number; b?: number }; Returns: number };
      listed: { Args: never; Returns: { a: number; b: Database['shapes']['Enums']['colour'] }[] };
      listed_one: { Args: never; Returns: { a: number }[] };
      many: { Args: { list: string[] }; Returns: string };
      nothing: { Args: never; Returns: undefined };
      one: { Args: never; Returns: { a: number } };
      over: { Args: { a: number }; Returns: number } | { Args: { a: string }; Returns: string };
      pair: { Args: never; Returns: { a: number; b: string } };
      raw: { Args: never; Returns: Record<string, unknown> };
      things: { Args: { owner: number }; Returns: Database['shapes']['Tables']['thing']['Row'][] };
    };
    Enums: {
      colour: 'red' | 'it\'s "blue"' | 'dark-green';
    };
    CompositeTypes: {
      point: {
        label: string | null;
        x: number | null;
        y: number | null;
      };
    };
  };
  'odd schema': {
    Tables: {
      'odd table': {
        Row: {
          id: Database['odd schema']['Enums']['odd-enum'] | null;
          shade: Database['shapes']['Enums']['colour'] | null;
        };
        Insert: {
          id?: Database['odd schema']['Enums']['odd-enum'] | null;
          shade?: Database['shapes']['Enums']['colour'] | null;
        };
        Update: {
          id?: Database['odd schema']['Enums']['odd-enum'] | null;
          shade?: Database['shapes']['Enums']['colour'] | null;
        };
        Relationships: [];
      };
    };
    Views: { [_ in never]: never };
    Functions: { [_ in never]: never };
    Enums: {
      'odd-enum': 'ä';
    };
    CompositeTypes: { [_ in never]: never };
  };
};
