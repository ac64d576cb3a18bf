-- first comment; with semicolon
create table a (id int); -- trailing; comment
/* block; comment /* nested; */ still; */
create function f() returns int language plpgsql as $$
begin
  return 1; -- inside
end;
$$;

create function g() returns int language plpgsql as $body$ begin return 1; end $body$;
insert into a values (1); insert into a values (2);;
insert into a (id) select ascii('it''s; ok');
select E'a\';b', "odd;name" from (select 1 as "odd;name") s;
create function h(x int) returns int language sql begin atomic select x; select x+1; end;
create function hh(x int) returns int language sql begin atomic select case when x=1 then 2 else 3 end; end;
do $do$ begin perform 1; end $do$
