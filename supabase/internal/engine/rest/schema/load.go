package schema

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

// Source selects the parts of the catalogue to read.
type Source struct {
	Schemas         []string      // the exposed schemas
	ExtraSearchPath []string      // further schemas with views to follow
	MustExist       bool          // an unknown schema is an error
	HoistedSettings []string      // settings of functions that apply to the whole transaction
	Delay           time.Duration // makes reading the catalogue take longer
}

// Load reads the catalogue in one round trip.
func Load(ctx context.Context, conn interface {
	SendBatch(context.Context, *pgx.Batch) pgx.BatchResults
}, src Source) (*Cache, error) {
	extra := append([]string{}, src.ExtraSearchPath...)
	hoisted := append([]string{}, src.HoistedSettings...)
	batch := &pgx.Batch{}
	// All statements must see the same state of the catalogue.
	batch.Queue("begin isolation level repeatable read read only")
	if src.Delay > 0 { // before set_config, so that the time-out of the login role ends it
		batch.Queue("select pg_sleep($1)", src.Delay.Seconds())
	}
	// With an empty search path Postgres writes types and functions with their schemas, and
	// unqualified names mean pg_catalog. The statement timeout of the login role is meant for
	// requests; a large catalogue may take longer.
	batch.Queue("select set_config('search_path', '', true), set_config('statement_timeout', '0', true)")
	if src.MustExist {
		batch.Queue("select count(quote_ident(name)::regnamespace) from unnest($1::text[] || $2::text[]) name",
			src.Schemas, extra)
	}
	batch.Queue(tablesSQL, src.Schemas)
	batch.Queue(keysSQL)
	batch.Queue(relationsSQL, src.Schemas, extra)
	batch.Queue(viewsSQL, src.Schemas, extra)
	batch.Queue(computedSQL)
	batch.Queue(routinesSQL, src.Schemas, hoisted)
	batch.Queue(castsSQL)
	batch.Queue(handlersSQL, src.Schemas)
	batch.Queue(textTypesSQL)
	batch.Queue("select getdatabaseencoding() = 'UTF8'")
	batch.Queue("commit")
	res := conn.SendBatch(ctx, batch)
	c, err := read(res, src)
	if cerr := res.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return nil, fmt.Errorf("read the schema: %w", err)
	}
	return c, nil
}

// read decodes the results of the batch, in the order of its statements.
func read(res pgx.BatchResults, src Source) (*Cache, error) {
	c := &Cache{Tables: map[Name]*Table{}, Routines: map[Name][]*Routine{}}
	leading := 2 // begin and set_config
	if src.Delay > 0 {
		leading++
	}
	if src.MustExist {
		leading++
	}
	for range leading {
		if _, err := res.Exec(); err != nil {
			return nil, err
		}
	}
	if err := c.readTables(res); err != nil {
		return nil, err
	}
	g := graph{relations: map[int64]*relation{}}
	if err := g.readKeys(res); err != nil {
		return nil, err
	}
	if err := g.readRelations(res); err != nil {
		return nil, err
	}
	if err := g.readViews(res); err != nil {
		return nil, err
	}
	if err := g.readComputed(res); err != nil {
		return nil, err
	}
	if err := c.readRoutines(res); err != nil {
		return nil, err
	}
	if err := c.readCasts(res); err != nil {
		return nil, err
	}
	if err := c.readHandlers(res); err != nil {
		return nil, err
	}
	if err := c.readTextTypes(res); err != nil {
		return nil, err
	}
	if err := res.QueryRow().Scan(&c.UTF8); err != nil {
		return nil, err
	}
	c.relate(&g, src.Schemas)
	c.names = newHints(c)
	return c, nil
}

// each scans every row of the next result.
func each(res pgx.BatchResults, dst []any, fn func() error) error {
	rows, err := res.Query()
	if err != nil {
		return err
	}
	_, err = pgx.ForEachRow(rows, dst, fn)
	return err
}

func (c *Cache) readTables(res pgx.BatchResults) error {
	var t Table
	var updatable int32
	var columns []byte
	return each(res, []any{&t.Schema, &t.Name.Name, &t.Comment, &t.IsView, &updatable, &t.Key, &columns}, func() error {
		table := t
		// The bits are 1 << CmdType of the server: UPDATE 4, INSERT 8, DELETE 16.
		table.Updatable, table.Insertable, table.Deletable = updatable&4 != 0, updatable&8 != 0, updatable&16 != 0
		if err := json.Unmarshal(columns, &table.Columns); err != nil {
			return err
		}
		table.byName = make(map[string]int, len(table.Columns))
		for i := range table.Columns {
			table.byName[table.Columns[i].Name] = i
		}
		c.Tables[table.Name] = &table
		t.Comment, t.Key = nil, nil
		return nil
	})
}

// unmarshal decodes each value into the pointer at the same index.
func unmarshal(values []json.RawMessage, into ...any) error {
	for i, v := range values {
		if err := json.Unmarshal(v, into[i]); err != nil {
			return err
		}
	}
	return nil
}

func (c *Cache) readRoutines(res pgx.BatchResults) error {
	var r Routine
	var volatility string
	var settings, params []byte
	return each(res, []any{&r.Schema, &r.Name.Name, &r.Comment, &r.Return.Schema, &r.Return.Name, &r.SetOf,
		&r.Composite, &volatility, &r.Variadic, &r.Isolation, &settings, &params}, func() error {
		routine := r
		routine.Volatility = Volatility(volatility[0])
		if err := json.Unmarshal(settings, &routine.Settings); err != nil {
			return err
		}
		var list [][5]json.RawMessage
		if err := json.Unmarshal(params, &list); err != nil {
			return err
		}
		routine.Params = make([]Param, len(list))
		for i, v := range list {
			p := &routine.Params[i]
			if err := unmarshal(v[:], &p.Name, &p.Type, &p.CastType, &p.Required, &p.Variadic); err != nil {
				return err
			}
		}
		c.addRoutine(&routine)
		r.Comment = nil
		return nil
	})
}

// addRoutine adds a function and keeps overloads sorted by the number of their parameters.
func (c *Cache) addRoutine(r *Routine) {
	list := append(c.Routines[r.Name], r)
	for i := len(list) - 1; i > 0 && less(list[i], list[i-1]); i-- {
		list[i], list[i-1] = list[i-1], list[i]
	}
	c.Routines[r.Name] = list
}

func less(a, b *Routine) bool {
	if len(a.Params) != len(b.Params) {
		return len(a.Params) < len(b.Params)
	}
	for i := range a.Params {
		x, y := a.Params[i], b.Params[i]
		if x.Name != y.Name {
			return x.Name < y.Name
		}
		if x.Type != y.Type {
			return x.Type < y.Type
		}
	}
	return false
}

func (c *Cache) readCasts(res pgx.BatchResults) error {
	c.Representations = map[[2]string]string{}
	var from, to, function string
	return each(res, []any{&from, &to, &function}, func() error {
		c.Representations[[2]string{from, to}] = function
		return nil
	})
}

func (c *Cache) readHandlers(res pgx.BatchResults) error {
	c.Handlers = map[HandlerKey]Handler{}
	var function, target Name
	var media string
	return each(res, []any{&function.Schema, &function.Name, &target.Schema, &target.Name, &media}, func() error {
		resolved := media
		if media == "*/*" {
			resolved = "application/octet-stream"
		}
		c.Handlers[HandlerKey{target, media}] = Handler{function, resolved}
		return nil
	})
}

func (c *Cache) readTextTypes(res pgx.BatchResults) error {
	c.TextTypes = map[uint32]bool{}
	var oid uint32
	return each(res, []any{&oid}, func() error {
		c.TextTypes[oid] = true
		return nil
	})
}
