insert into a values (9);
