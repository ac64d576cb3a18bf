// Installed with supabase-js, without types of its own.
declare module 'ws';
