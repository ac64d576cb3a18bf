package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
)

// lighthouse prints the table of docs/performance.md: the site's pages on slow 4G and poor 3G,
// three visits each, in a real browser. web/scripts/lighthouse.mjs lists the pages and the network
// conditions. `-only lighthouse` measures nothing else.
func lighthouse(ctx context.Context, siteURL string) error {
	cmd := exec.CommandContext(ctx, "node", "web/scripts/lighthouse.mjs", siteURL)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("lighthouse: %w", err)
	}
	return nil
}
