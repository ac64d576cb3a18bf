package rest_test

import "testing"

func TestCalls(t *testing.T) {
	b := open(t, nil)
	b.run(t, []scenario{
		{name: "get", url: "/rpc/add?a=1&b=4", want: `5`},
		{name: "default", url: "/rpc/add?a=1", want: `3`},
		{name: "post", method: "POST", url: "/rpc/add", body: `{"a":1,"b":4}`, want: `5`},
		{name: "form", method: "POST", url: "/rpc/add", header: "Content-Type: application/x-www-form-urlencoded", body: "a=1&b=4", want: `5`},
		{name: "variadic by get", url: "/rpc/total?numbers=1&numbers=2&numbers=3", want: `6`},
		{name: "variadic by post", method: "POST", url: "/rpc/total", body: `{"numbers":[1,2,3]}`, want: `6`},
		{name: "set of rows with select, filter and order", url: "/rpc/by_author?author=1&select=title,editor:authors!books_editor_fkey(name)&price=gt.10&order=title",
			want: `[{"title":"Maps","editor":{"name":"Hadraawi"}}]`, reply: "Content-Range: 0-0/*"},
		{name: "set of rows counted", url: "/rpc/by_author?author=1&limit=1", header: "Prefer: count=exact", status: 206, reply: "Content-Range: 0-0/2"},
		{name: "computed column of the rows", url: "/rpc/by_author?author=2&select=shout", want: `[{"shout":"HAL-KARAAN"}]`},
		{name: "out parameters", url: "/rpc/pair", want: `{"x":1,"y":"one"}`},
		{name: "table", url: "/rpc/grid?square=gt.1&order=n.desc", want: `[{"n":3,"square":9},{"n":2,"square":4}]`},
		{name: "set of scalars", url: "/rpc/names", want: `["Nuruddin Farah","Hadraawi","Ubah Cristina"]`},
		{name: "void", method: "POST", url: "/rpc/nothing", status: 204, want: "="},
		{name: "whole json", method: "POST", url: "/rpc/body_json", body: `[{"a":2}]`, want: `[{"a":2}]`},
		{name: "whole text", method: "POST", url: "/rpc/body_text", header: "Content-Type: text/plain", body: `plain "text"`, want: `"plain \"text\""`},
		{name: "whole bytes", method: "POST", url: "/rpc/body_bytes", header: "Content-Type: application/octet-stream", body: "\x00\xff\x01", want: `3`},
		{name: "overload by name", url: "/rpc/twice?b=ab", want: `"abab"`},
		{name: "overload by other name", url: "/rpc/twice?a=4", want: `8`},
		{name: "ambiguous overload", url: "/rpc/unclear?a=1", status: 300, want: `{"code":"PGRST203","details":null,
			"message":"Could not choose the best candidate function between: api.unclear(a => integer), api.unclear(a => text)",
			"hint":"Try renaming the parameters or the function itself in the database so function overloading can be resolved"}`},
		{name: "unknown function", url: "/rpc/ad?a=1", status: 404, want: `{"code":"PGRST202","message":"Could not find the function api.ad(a) in the schema cache",
			"details":"Searched for the function api.ad with parameter a, but no matches were found in the schema cache.","hint":null}`},
		{name: "unknown parameter", method: "POST", url: "/rpc/add", body: `{"x":1}`, status: 404, want: `{"code":"PGRST202","message":"Could not find the function api.add(x) in the schema cache",
			"details":"Searched for the function api.add with parameter x or with a single unnamed json/jsonb parameter, but no matches were found in the schema cache.",
			"hint":null}`},
		{name: "method", method: "DELETE", url: "/rpc/add", status: 405, want: `{"code":"PGRST101","message":"Cannot use the DELETE method on RPC","details":null,"hint":null}`},
		{name: "writing by get", url: "/rpc/remove_books?lowest=1", status: 405,
			want: `{"code":"25006","message":"cannot execute DELETE in a read-only transaction","details":null,"hint":null}`},
		{name: "writing by post", method: "POST", url: "/rpc/remove_books?select=id", body: `{"lowest":4}`, want: `[{"id":4}]`},
		{name: "max affected", method: "POST", url: "/rpc/remove_books", header: "Prefer: handling=strict, max-affected=0", body: `{"lowest":4}`, status: 400},
		{name: "max affected needs a set", method: "POST", url: "/rpc/add", header: "Prefer: handling=strict, max-affected=1", body: `{"a":4}`, status: 400,
			want: `{"code":"PGRST128","message":"Function must return SETOF or TABLE when max-affected preference is used with handling=strict","details":null,"hint":null}`},
		{name: "anti-join on rows of a function", url: "/rpc/by_author?author=1&select=id,covers()&covers=is.null", want: `[{"id":2}]`},
		{name: "one object", url: "/rpc/by_author?author=2&select=id", header: "Accept: application/vnd.pgrst.object+json", want: `{"id":3}`},
		{name: "head", method: "HEAD", url: "/rpc/add?a=1", want: "="},
		{name: "statement timeout of the function", url: "/rpc/slow", status: 500, want: `{"code":"57014","message":"canceling statement due to statement timeout","details":null,"hint":null}`},
		{name: "isolation level of the function", url: "/rpc/level", want: `"serializable"`},
	})
}
