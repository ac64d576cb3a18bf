# The rules that PostGIS' Makefiles take from an installed Postgres.
all: $(MODULE_big).so

override CPPFLAGS := $(PG_CPPFLAGS) $(CPPFLAGS)

%.o: %.c
	gcc $(CPPFLAGS) -fvisibility=hidden -w -c -o $@ $<

$(MODULE_big).so: $(OBJS)
	gcc -shared -s -Wl,-z,relro,-z,now,--as-needed -o $@ $(OBJS) $(SHLIB_LINK)
