package app

import (
	"bufio"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"
)

// checkLongBody checks that a function refuses a body of 100 MB before the client sends it. Where
// the functions run is known only to the whole stack.
func checkLongBody(t *testing.T, info Info, name string) {
	t.Helper()
	host := strings.TrimPrefix(info.Get("API_URL"), "http://")
	conn, err := net.Dial("tcp", host)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(20 * time.Second)); err != nil {
		t.Fatal(err)
	}
	_, err = fmt.Fprintf(conn, "POST /functions/v1/%s HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\n"+
		"Content-Type: application/json\r\nContent-Length: 99999999\r\nExpect: 100-continue\r\n\r\n", name, host,
		info.Get("ANON_KEY"))
	if err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(conn).ReadString('\n'); err != nil || !strings.Contains(line, " 413 ") {
		t.Errorf("%s: a body of 100 MB: %q %v", name, line, err)
	}
}
