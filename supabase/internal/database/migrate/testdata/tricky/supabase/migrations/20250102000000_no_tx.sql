

create table b (id int);
-- last comment
