package db

import "testing"

func TestLocal(t *testing.T) {
	for host, want := range map[string]bool{
		"/run/postgresql": true, "localhost": true, "127.0.0.1": true, "::1": true,
		"": false, "db": false, "10.0.0.5": false, "localhost.example.com": false,
	} {
		if got := local(host); got != want {
			t.Errorf("local(%q) = %v, want %v", host, got, want)
		}
	}
}
