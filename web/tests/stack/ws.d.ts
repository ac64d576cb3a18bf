// ws is installed with supabase-js and has no types.
declare module 'ws';
