package acceptance

import (
	"go/ast"
	"go/constant"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// TestDeskTextsOfChecks checks that the desk has a text for each finding of doctor, in both
// languages, unless it is an error: the English one is the server's, and the Somali one has the
// same parameters.
func TestDeskTextsOfChecks(t *testing.T) {
	want := doctorTexts(t)
	if len(want) < 50 {
		t.Fatalf("only %d texts were found in the source of doctor", len(want))
	}
	texts := map[string]map[string]string{}
	for _, language := range []string{"en", "so"} {
		texts[language] = deskTexts(t, "../../web/desk/src/i18n/"+language+"/checks.ts")
		for code := range texts[language] {
			if _, ok := want[code]; !ok {
				t.Errorf("%s has a text for %s, which doctor does not say", language, code)
			}
		}
	}
	for code, text := range want {
		if text == "{0}" {
			continue
		}
		if got := texts["en"][code]; got != text {
			t.Errorf("%s is %q in English, want %q", code, got, text)
		}
		somali, ok := texts["so"][code]
		if got, want := parametersOf(somali), parametersOf(text); !ok || !slices.Equal(got, want) {
			t.Errorf("%s is %q in Somali, with the parameters %v, want %v", code, somali, got, want)
		}
	}
}

// parametersOf returns the parameters of a text, each once, in order.
func parametersOf(text string) []string {
	found := regexp.MustCompile(`\{\d\}`).FindAllString(text, -1)
	slices.Sort(found)
	return slices.Compact(found)
}

// deskTexts returns the texts of a file of the desk whose keys have a dot.
func deskTexts(t *testing.T, name string) map[string]string {
	t.Helper()
	content, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	texts := map[string]string{}
	entry := regexp.MustCompile(`'([a-z-]+\.[a-z-]+)':\s+('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")`)
	for _, m := range entry.FindAllStringSubmatch(string(content), -1) {
		texts[m[1]] = strings.NewReplacer(`\'`, `'`, `\"`, `"`, `\\`, `\`).Replace(m[2][1 : len(m[2])-1])
	}
	return texts
}

// doctorTexts returns the formats of doctor's findings by their codes, with {0} for the first
// value.
func doctorTexts(t *testing.T) map[string]string {
	t.Helper()
	files, err := filepath.Glob("../internal/app/doctor/*.go")
	if err != nil {
		t.Fatal(err)
	}
	texts := map[string]string{}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		constants := map[string]string{}
		ast.Inspect(file, func(n ast.Node) bool {
			if spec, ok := n.(*ast.ValueSpec); ok && len(spec.Values) == 1 {
				constants[spec.Names[0].Name], _ = fold(spec.Values[0], nil)
			}
			return true
		})
		ast.Inspect(file, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			if f, ok := call.Fun.(*ast.SelectorExpr); !ok || f.Sel.Name != "say" {
				return true
			}
			what, _ := fold(call.Args[0], constants)
			detail, _ := fold(call.Args[2], constants)
			format, ok := fold(call.Args[3], constants)
			code := strings.ToLower(strings.ReplaceAll(what, " ", "-")) + "." + detail
			text := templateOf(format)
			if !ok || texts[code] != "" && texts[code] != text {
				t.Errorf("%s: %s has no text, or two: %q and %q", name, code, texts[code], text)
			}
			texts[code] = text
			return true
		})
	}
	return texts
}

// fold returns the value of a constant string.
func fold(e ast.Expr, constants map[string]string) (string, bool) {
	switch e := e.(type) {
	case *ast.BasicLit:
		v := constant.MakeFromLiteral(e.Value, e.Kind, 0)
		if v.Kind() != constant.String {
			return "", false
		}
		return constant.StringVal(v), true
	case *ast.Ident:
		value, ok := constants[e.Name]
		return value, ok
	case *ast.BinaryExpr:
		x, ok := fold(e.X, constants)
		y, also := fold(e.Y, constants)
		return x + y, ok && also
	}
	return "", false
}

// templateOf replaces the verbs of a format by their numbers.
func templateOf(format string) string {
	next := 0
	return regexp.MustCompile(`%(?:\[(\d)\])?[sdv]`).ReplaceAllStringFunc(format, func(verb string) string {
		if i, explicit := strings.CutPrefix(verb, "%["); explicit {
			n, _ := strconv.Atoi(i[:1])
			return "{" + strconv.Itoa(n-1) + "}"
		}
		next++
		return "{" + strconv.Itoa(next-1) + "}"
	})
}
