package catalog

import "testing"

func TestOrigins(t *testing.T) {
	tree := `({QUERY :commandType 1 :rtable ({RANGETBLENTRY :eref {ALIAS :aliasname a\ \{b :colnames ("x" "y")}}) ` +
		`:targetList ({TARGETENTRY :expr {VAR :varno 1} :resno 1 :resname id :resorigtbl 16385 :resorigcol 2 :resjunk false} ` +
		`{TARGETENTRY :expr {SUBLINK :subselect {QUERY :targetList ({TARGETENTRY :resno 9 :resorigtbl 7 :resorigcol 7})}} :resno 2 :resname n :resorigtbl 0 :resorigcol 0 :resjunk false}) ` +
		`:override 0})`
	got := Origins(tree)
	if len(got) != 1 || got[1] != (Origin{16385, 2}) {
		t.Errorf("%v", got)
	}
}

func FuzzOrigins(f *testing.F) {
	f.Add(`({QUERY :targetList ({TARGETENTRY :resno 1 :resorigtbl 2 :resorigcol 3})})`)
	f.Add(`({QUERY :targetList ({TARGETENTRY`)
	f.Fuzz(func(t *testing.T, tree string) { Origins(tree) })
}
