insert into b values (1);
