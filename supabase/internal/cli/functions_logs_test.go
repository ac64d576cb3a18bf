package cli

import "testing"

func TestOfFunction(t *testing.T) {
	for text, want := range map[string]bool{
		`level=INFO msg="function call" function=hello status=200`: true,
		`level=INFO msg="function call" function=hello`:            true,
		`level=INFO msg="function call" function=hello-two`:        false,
		`level=INFO msg=greeted otherfunction=hello`:               false,
		`level=INFO msg=started`:                                   false,
	} {
		if ofFunction(text, "hello") != want {
			t.Error(text)
		}
	}
}
