package edge

import (
	"fmt"
	"net/http"
	"reflect"
)

// None is the type of a missing body: an Endpoint with the request None reads no body, one with the
// reply None sends status 204.
type None struct{}

// Endpoint is a handler of JSON that knows the types of its request and its reply. JSON makes it.
type Endpoint struct {
	in, out reflect.Type
	status  int
	serve   Handler
	err     error
}

// JSON returns an Endpoint. It decodes the body into an In as ReadJSON does, checks it, calls fn
// and sends its result as JSON with status 200. Set it as Func.JSON. The types are also the source
// of /functions/v1/_openapi.json and of the TypeScript client.
//
// Tags of the fields of In say what is valid:
//
//	Name  string   `json:"name" validate:"required,max=80" doc:"As on the card."`
//	Email *string  `json:"email" validate:"format=email"`
//	Kind  string   `json:"kind" validate:"oneof=walk-in booked"`
//	Tags  []string `json:"tags" validate:"max=5"`
//
// The rules are required (not the zero value), min and max (characters of a string, items of a list
// or map, value of a number), oneof (values separated by spaces), format (email, uuid, uri, date or
// date-time) and, as the last one, pattern (a regular expression). A field that is not required may
// be absent, null or empty; other rules do not apply to it then. A wrong field is an *Error with
// status 400, code validation_failed and a message per field. If In has a method Validate() error,
// it is called last. The tag schema has the same rules, but only describes them: for a function
// that checks a field itself, in words of its own.
//
// Use r for the headers and the context, and Env.Header for headers of the reply.
func JSON[In, Out any](fn func(r *http.Request, env *Env, in In) (Out, error)) *Endpoint {
	e := &Endpoint{in: reflect.TypeFor[In](), out: reflect.TypeFor[Out](), status: http.StatusOK}
	rules, err := compile(e.in)
	if err == nil {
		_, _, err = e.schemas("Check")
	}
	e.err = err
	empty, silent := e.in == reflect.TypeFor[None](), e.out == reflect.TypeFor[None]()
	e.serve = func(w http.ResponseWriter, r *http.Request, env *Env) error {
		var in In
		if !empty {
			var err error
			if in, err = ReadJSON[In](r); err != nil {
				return err
			}
			if err := rules.check(&in); err != nil {
				return err
			}
		}
		env.reply = w.Header()
		out, err := fn(r, env, in)
		if err != nil {
			return err
		}
		if silent {
			w.WriteHeader(http.StatusNoContent)
			return nil
		}
		return WriteJSON(w, e.status, out)
	}
	return e
}

// WithStatus sets the status of a successful reply, such as 201, and returns e.
func (e *Endpoint) WithStatus(status int) *Endpoint {
	e.status = status
	return e
}

// Serve answers one call. A Handler that also answers other forms calls it for JSON.
func (e *Endpoint) Serve(w http.ResponseWriter, r *http.Request, env *Env) error {
	if e.err != nil {
		return e.err
	}
	return e.serve(w, r, env)
}

// Err returns a mistake in the types: an unknown rule, or a field that JSON cannot hold. Hosts
// check it before they serve.
func (e *Endpoint) Err() error { return e.err }

// Status returns the status of a successful reply.
func (e *Endpoint) Status() int {
	if e.out == reflect.TypeFor[None]() {
		return http.StatusNoContent
	}
	return e.status
}

// Schemas returns the JSON Schemas (2020-12) of request and reply, nil for None, and the recursive
// types that they refer to. Those are named NAME.TYPE and referred to as
// #/components/schemas/NAME.TYPE.
func (e *Endpoint) Schemas(name string) (request, reply *Schema, parts map[string]*Schema) {
	b, pair, _ := e.schemas(name) // JSON has found the error
	return pair[0], pair[1], b.parts
}

func (e *Endpoint) schemas(name string) (*schemaBuilder, [2]*Schema, error) {
	b := &schemaBuilder{prefix: name, parts: map[string]*Schema{}, open: map[reflect.Type]bool{},
		used: map[reflect.Type]bool{}}
	var pair [2]*Schema
	for i, t := range []reflect.Type{e.in, e.out} {
		if t == reflect.TypeFor[None]() {
			continue
		}
		b.reply = i == 1
		b.suffix = []string{"", "Reply"}[i]
		s, err := b.schema(t)
		if err != nil {
			return b, pair, fmt.Errorf("type %s: %w", t, err)
		}
		pair[i] = s
	}
	return b, pair, nil
}
