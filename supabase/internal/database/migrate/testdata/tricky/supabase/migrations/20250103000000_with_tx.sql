begin;
create table c (id int);
commit;
