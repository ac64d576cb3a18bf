create rule r as on insert to b do also (select 1; select 2);
create table "we;ird$x$" (a$b$ int); select 1 as a$b$;
select $$a;b$$ || $x$c;$$;d$x$;
select U&'d\0061t;a', b'1', x'1F', n'x;y', e'\\', 'c:\';
create or replace procedure p() language sql begin atomic insert into a values (1); end;
select '
multi;
';
select 1 /* a ; -- b */; -- tail
   -- only comment between;

;
create function bt() returns text language sql return 'a;b';
begin;
select 1; end;
insert into a select 1 from (select 1 as begin) x;
