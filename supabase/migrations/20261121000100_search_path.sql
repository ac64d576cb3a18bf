-- A function finds its tables whatever the search path of its caller says.

alter function private.count_request(text, text, integer, interval) set search_path = '';
alter function private.photo_cleaned(text, text, boolean) set search_path = '';
