package cli

import (
	"context"
	"fmt"
	"net/http"
	"time"
)

var healthcheckCommand = Command{
	Name:  "healthcheck",
	Args:  "URL",
	Short: "Exit with 0 if URL replies 200 (for containers without a shell)",
	Run: func(ctx context.Context, inv *Invocation) error {
		if err := inv.parse(1, 1); err != nil {
			return err
		}
		ctx, cancel := context.WithTimeout(ctx, 4*time.Second)
		defer cancel()
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, inv.args[0], nil)
		if err != nil {
			return usagef("%v", err)
		}
		res, err := http.DefaultClient.Do(r)
		if err != nil {
			return err
		}
		defer res.Body.Close()
		if res.StatusCode != http.StatusOK {
			return fmt.Errorf("%s replied %s", inv.args[0], res.Status)
		}
		return nil
	},
}
