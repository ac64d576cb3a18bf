package cli

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"net/http"
)

func invokeFunction(ctx context.Context, inv *Invocation) error {
	inv.dataFlag()
	body := inv.flags.String("body", "", "`JSON` to send; - reads the standard input")
	method := inv.flags.String("method", http.MethodPost, "HTTP `method`")
	token := inv.flags.String("user-token", "", "access `token` of a user (default: the role anon)")
	if err := inv.parseMixed(1, 1); err != nil {
		return err
	}
	content := []byte(*body)
	if *body == "-" {
		var err error
		if content, err = inv.readInput(ctx); err != nil {
			return err
		}
	}
	info, err := inv.status(ctx)
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, *method, info.Get("API_URL")+"/functions/v1/"+inv.args[0],
		bytes.NewReader(content))
	if err != nil {
		return err
	}
	key := info.Get("ANON_KEY")
	*token = cmp.Or(*token, key)
	req.Header.Set("Apikey", key)
	req.Header.Set("Authorization", "Bearer "+*token)
	req.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	execution := ""
	if id := res.Header.Get("Sb-Request-Id"); id != "" { // only a function that was called has one
		execution = " (execution " + id + ")"
	}
	fmt.Fprintf(inv.Stderr, "%s%s\n", res.Status, execution)
	if _, err := io.Copy(inv.Stdout, res.Body); err != nil {
		return err
	}
	if res.StatusCode == http.StatusNotFound && execution == "" {
		fmt.Fprintln(inv.Stdout)
		return fmt.Errorf("no function %s; `daawo functions list` has their names", inv.args[0])
	}
	if res.StatusCode >= 400 {
		return fmt.Errorf("function %s replied %s", inv.args[0], res.Status)
	}
	return nil
}
