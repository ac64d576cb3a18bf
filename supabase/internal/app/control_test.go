package app

import (
	"context"
	"errors"
	"testing"
	"time"
)

// TestControlEndsAfterItsReplies: the command that ends the server is answered before the socket goes, and afterwards none is.
func TestControlEndsAfterItsReplies(t *testing.T) {
	data := t.TempDir()
	asked := make(chan struct{})
	c, err := openControl(data, map[string]func(context.Context) (any, error){
		"/slow": func(context.Context) (any, error) {
			close(asked)
			time.Sleep(50 * time.Millisecond) // the server begins to end meanwhile
			return "done", nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	closed := make(chan error, 1)
	go func() {
		<-asked
		closed <- c.close(context.Background())
	}()
	var reply string
	if err := Command(t.Context(), data, "/slow", &reply); err != nil || reply != "done" {
		t.Errorf("%q, %v", reply, err)
	}
	if err := <-closed; err != nil {
		t.Error(err)
	}
	if err := Command(t.Context(), data, "/slow", &reply); !errors.Is(err, ErrNotRunning) {
		t.Errorf("after the end: %v", err)
	}
}
